/* dtype.h - names of data types ("float32", "int8x4", "bfloat16xvscalex4", "custom[name]") and devices ("cuda:0"). */
#pragma once

#include "core/object/any.h"
#include "core/platform/base.h"

/* ValueError for anything that is not the name of a data type. */
int fh_dtype_parse(TVMFFIByteArray text, DLDataType *out);
/* Returns a string value. */
int fh_dtype_print(DLDataType dtype, TVMFFIAny *out);

/* --- devices ----------------------------------------------------------------------------------------------------- */

/* Writes "cuda:0", for an unknown type "unknown(77):0", as a NUL-terminated string to `buffer` of FH_DEVICE_TEXT_MAX
 * bytes. */
#define FH_DEVICE_TEXT_MAX 48
void fh_device_print(DLDevice device, char *buffer);
