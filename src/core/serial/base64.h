/* base64.h - bytes as text of 64 characters, with padding. */
#ifndef FH_BASE64_H_
#define FH_BASE64_H_

#include "core/object/any.h"

/* As an owned string value. */
int fh_base64_encode(TVMFFIByteArray bytes, TVMFFIAny *out);
/* As an owned bytes value. ValueError for a text that is not whole groups of four characters, or has others. */
int fh_base64_decode(TVMFFIByteArray text, TVMFFIAny *out);

#endif /* FH_BASE64_H_ */
