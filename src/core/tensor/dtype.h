/* dtype.h - names of data types: "float32", "int8x4", "bfloat16xvscalex4", "custom[name]". */
#ifndef FH_DTYPE_H_
#define FH_DTYPE_H_

#include "core/object/any.h"

/* ValueError for anything that is not the name of a data type. */
int fh_dtype_parse(TVMFFIByteArray text, DLDataType *out);
/* Returns a string value. */
int fh_dtype_print(DLDataType dtype, TVMFFIAny *out);

#endif /* FH_DTYPE_H_ */
