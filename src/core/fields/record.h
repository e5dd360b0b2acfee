/* record.h - objects of types whose fields a binding laid out and declared by reflection: nobody else knows how to
 * make, copy and end them. */
#ifndef FH_RECORD_H_
#define FH_RECORD_H_

#include "core/object/any.h"

/* Gives a type whose fields are declared __ffi_init__, __ffi_new__ and __ffi_shallow_copy__. Its objects have n_bytes,
 * header included, and all fields that are 0, NULL or None at first. A field of plain data is of that many bytes; one
 * of an object type, or of any type in 8 bytes, is a pointer; another one is a cell. */
int fh_record_register(int32_t type_index, int64_t n_bytes);

#endif /* FH_RECORD_H_ */
