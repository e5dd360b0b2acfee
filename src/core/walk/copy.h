/* copy.h - deep copies of values. */
#ifndef FH_COPY_H_
#define FH_COPY_H_

#include "core/object/any.h"

/* *out becomes an owned copy. A container becomes a new container; other objects are copied by their type's
 * __ffi_shallow_copy__, then field by field through getters and setters. Objects that are shared in the original are
 * shared in the copy, cycles included. Plain data, strings, bytes, shapes, integers and enum variants are their own
 * copies. InternalError for a type without __ffi_shallow_copy__ (tensors, functions); ValueError for a value that is
 * nested too deep. */
int fh_copy_deep(const TVMFFIAny *value, TVMFFIAny *out);

#endif /* FH_COPY_H_ */
