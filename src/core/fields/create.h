/* create.h - making objects of reflected types: empty ones, default values, arguments bound to fields. */
#ifndef FH_CREATE_H_
#define FH_CREATE_H_

#include "core/object/any.h"
#include "core/object/type.h"

/* A new object whose fields have no values yet, by the type's creator or its __ffi_new__: owned, NULL with an error
 * pending. RuntimeError for a type that has neither. */
TVMFFIObject *fh_create_empty(const TVMFFITypeInfo *info);
/* Gives a field its default value; it must have one. */
int fh_create_set_default(const TVMFFIFieldInfo *field, void *obj);

/* An object of the type that args[0] names by key or index, from alternating names and values in the other arguments.
 * Every field without a default must be named. */
int fh_create_from_pairs(const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* The automatic constructor of a type, as a Function. Its arguments are positional ones and then, optionally, KWARGS
 * and alternating names and values. It knows the fields that the type has when it is called. */
int fh_create_constructor(int32_t type_index, TVMFFIObjectHandle *out);

#endif /* FH_CREATE_H_ */
