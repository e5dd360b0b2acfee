/* copy.h - copies of values with everything they hold. */
#ifndef FH_COPY_H_
#define FH_COPY_H_

#include "core/object/any.h"

/* *out becomes an owned copy. Containers are made anew; other objects are copied by their type's __ffi_shallow_copy__,
 * then field by field through getters and setters. What is shared in the original is shared in the copy, cycles
 * included. Plain data, text, bytes, shapes, integers and enum variants are their own copies. InternalError for a type
 * without __ffi_shallow_copy__ (tensors, functions); ValueError for what is nested too deep. */
int fh_copy_deep(const TVMFFIAny *value, TVMFFIAny *out);

#endif /* FH_COPY_H_ */
