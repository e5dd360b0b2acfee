/* field.h - the getters and setters of inline fields, whose layout a binding chose (core/object/field_memory.h). */
#pragma once

#include "core/object/any.h"

/* Converts a view to an owned value of the field's type; nonzero with an error pending. */
typedef int (*fh_field_convert)(void *converter, const TVMFFIAny *view, TVMFFIAny *out);

/* Finds the getter for fields of a static type; ValueError for a type that no field can have. */
int fh_field_getter(int32_t type_index, TVMFFIFieldGetter *out);
/* Makes a Function(field address, value) that converts the value and writes it. `converter` is borrowed forever. */
int fh_field_setter(int32_t type_index, void *converter, fh_field_convert convert, TVMFFIObjectHandle *out);

/* --- objects of these types -------------------------------------------------------------------------------------- */

/* field.c creates, copies and destroys objects of types whose inline fields a binding declared by reflection. */

/* Registers __ffi_init__, __ffi_new__ and __ffi_shallow_copy__ for a type whose fields are declared. Objects of the
 * type have n_bytes, header included, and all fields are 0, NULL or None at first. A field of plain data is as large as
 * its data; a field of an object type, or of any type in 8 bytes, is a pointer; any other field is a cell. */
int fh_record_register(int32_t type_index, int64_t n_bytes);
