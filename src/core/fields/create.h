/* create.h - creating objects of reflected types: empty objects, default values, arguments bound to fields. */
#pragma once

#include "core/object/any.h"
#include "core/object/type.h"

/* Makes an object whose fields are not set yet, by the type's creator or its __ffi_new__: owned, NULL with an error
 * pending. RuntimeError for a type that has neither. */
TVMFFIObject *fh_create_empty(const TVMFFITypeInfo *info);
/* Sets a field to its default value; the field must have one. */
int fh_create_set_default(const TVMFFIFieldInfo *field, void *obj);

/* Makes an object of the type that args[0] names by key or index, from alternating names and values in the other
 * arguments. The names must include every field without a default. */
int fh_create_from_pairs(const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* Makes the automatic constructor of a type, as a Function. The arguments of that Function are positional ones and
 * then, optionally, KWARGS and alternating names and values. The constructor uses the fields that the type has at the
 * time of the call. */
int fh_create_constructor(int32_t type_index, TVMFFIObjectHandle *out);
