/* base64.h - base64 encoding of bytes, with padding. */
#pragma once

#include "core/object/any.h"

/* Returns an owned string value. */
int fh_base64_encode(TVMFFIByteArray bytes, TVMFFIAny *out);
/* Returns an owned bytes value. ValueError for a string that does not consist of whole groups of four characters of the
 * alphabet. */
int fh_base64_decode(TVMFFIByteArray text, TVMFFIAny *out);
