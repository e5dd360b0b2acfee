/* globals_create.c - ffi.MakeObjectFromPackedArgs, constructors, and the accessors of inline fields.
 *
 * A binding that defines types at run time needs these accessors: it registers the type and its fields by the C ABI,
 * with getters and setters from here, and then registers the functions that create and copy objects
 * (src/core/fields/record.c). */
#include "core/fields/create.h"
#include "core/fields/field.h"
#include "core/fields/record.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "globals_entry.h"

/* A type index in args[i]; the caller checks that the type exists. */
static int arg_type_index(const char *name, const TVMFFIAny *args, int32_t i, int32_t *out) {
  int64_t index;
  *out = kTVMFFIAny;
  if (fh_function_arg_int(name, args, i, &index) != 0) return -1;
  if (index < INT32_MIN || index > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a type index but got %lld", (long long)index);
  }
  *out = (int32_t)index;
  return 0;
}

/* An address in args[i], as an integer or as a pointer: bindings pass either. */
static int arg_address(const char *name, const TVMFFIAny *args, int32_t i, void **out) {
  int64_t number;
  if (args[i].type_index == kTVMFFIOpaquePtr) return fh_function_arg_ptr(name, args, i, out);
  if (fh_function_arg_int(name, args, i, &number) != 0) return -1;
  *out = (void *)(uintptr_t)number;
  return 0;
}

/* ffi.MakeObjectFromPackedArgs(type key or index, name, value, ...) -> object */
FH_GLOBAL(make_object) { return fh_create_from_pairs(args, n_args, result); }

/* ffi._RegisterFFIInit(type index): registers the automatic constructor as the type's __ffi_init__. The C++ headers
 * call it for each class that can be created and defines no constructor. */
FH_GLOBAL(register_init) {
  const char *name = "ffi._RegisterFFIInit";
  TVMFFIByteArray attr = FH_LITERAL("__ffi_init__");
  TVMFFIObjectHandle func;
  int32_t type_index;
  if (fh_function_check_count(name, n_args, 1) != 0 || arg_type_index(name, args, 0, &type_index) != 0) return -1;
  if (fh_create_constructor(type_index, &func) != 0) return -1;
  TVMFFIAny value = fh_any_object(func);
  int rc = TVMFFITypeRegisterAttr(type_index, &attr, &value);
  fh_object_release(func);
  return rc;
}

/* ffi._PyClassRegisterTypeAttrColumns(type index, bytes of an object): see fh_record_register. */
FH_GLOBAL(register_record) {
  const char *name = "ffi._PyClassRegisterTypeAttrColumns";
  int64_t n_bytes;
  int32_t type_index;
  if (fh_function_check_count(name, n_args, 2) != 0 || arg_type_index(name, args, 0, &type_index) != 0) return -1;
  if (fh_function_arg_int(name, args, 1, &n_bytes) != 0) return -1;
  return fh_record_register(type_index, n_bytes);
}

/* ffi.MakeFieldGetter(type index) -> the address of a TVMFFIFieldGetter, as an int */
FH_GLOBAL(make_getter) {
  const char *name = "ffi.MakeFieldGetter";
  TVMFFIFieldGetter getter;
  int32_t type_index;
  if (fh_function_check_count(name, n_args, 1) != 0 || arg_type_index(name, args, 0, &type_index) != 0) return -1;
  if (fh_field_getter(type_index, &getter) != 0) return -1;
  *result = fh_any_int((int64_t)(uintptr_t)getter);
  return 0;
}

/* ffi.MakeFieldSetter(type index, converter, address of a fh_field_convert) -> Function(field address, value) */
FH_GLOBAL(make_setter) {
  const char *name = "ffi.MakeFieldSetter";
  TVMFFIObjectHandle setter;
  void *converter, *convert;
  int32_t type_index;
  if (fh_function_check_count(name, n_args, 3) != 0 || arg_type_index(name, args, 0, &type_index) != 0) return -1;
  if (arg_address(name, args, 1, &converter) != 0 || arg_address(name, args, 2, &convert) != 0) return -1;
  if (fh_field_setter(type_index, converter, (fh_field_convert)(uintptr_t)convert, &setter) != 0) return -1;
  *result = fh_any_object(setter);
  return 0;
}

const fh_globals_entry fh_globals_create[] = {
    {"ffi.MakeObjectFromPackedArgs", make_object, "ffi.Function"},
    {"ffi._RegisterFFIInit", register_init, "None(int)"},
    {"ffi._PyClassRegisterTypeAttrColumns", register_record, "None(int, int)"},
    {"ffi.MakeFieldGetter", make_getter, "int(int)"},
    {"ffi.MakeFieldSetter", make_setter, "ffi.Function(int, int, int)"},
    {NULL, NULL, NULL},
};
