/* record.h - objects of types whose inline fields a binding declared by reflection: this file creates, copies and
 * destroys them. */
#ifndef FH_RECORD_H_
#define FH_RECORD_H_

#include "core/object/any.h"

/* Registers __ffi_init__, __ffi_new__ and __ffi_shallow_copy__ for a type whose fields are declared. Its objects have
 * n_bytes, header included, and all fields are 0, NULL or None at first. A field of plain data is as large as its data;
 * a field of an object type, or of any type in 8 bytes, is a pointer; any other field is a cell. */
int fh_record_register(int32_t type_index, int64_t n_bytes);

#endif /* FH_RECORD_H_ */
