/* field.c - reading and writing fields whose layout a binding chose.
 *
 * A getter is a plain C function for each C type. A setter has to convert by the field's type, which only the binding
 * knows, so it is a Function whose closure has the binding's converter. Nothing here locks: the callers keep readers
 * and writers of a field apart. */
#include "field.h"

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

/* ---- Getters ---- */

static int get_int(void *field, TVMFFIAny *out) {
  *out = fh_any_int(*(const int64_t *)field);
  return 0;
}
static int get_float(void *field, TVMFFIAny *out) {
  *out = fh_any_float(*(const double *)field);
  return 0;
}
static int get_bool(void *field, TVMFFIAny *out) {
  *out = fh_any_bool(*(const uint8_t *)field);
  return 0;
}
static int get_ptr(void *field, TVMFFIAny *out) {
  *out = fh_any_ptr(*(void *const *)field);
  return 0;
}
static int get_dtype(void *field, TVMFFIAny *out) {
  *out = fh_any_dtype(*(const DLDataType *)field);
  return 0;
}
static int get_device(void *field, TVMFFIAny *out) {
  *out = fh_any_device(*(const DLDevice *)field);
  return 0;
}
/* get_any and get_object give a reference of the caller's own. NULL is None. */
static int get_any(void *field, TVMFFIAny *out) {
  fh_any_copy((const TVMFFIAny *)field, out);
  return 0;
}
static int get_object(void *field, TVMFFIAny *out) {
  TVMFFIAny view = fh_any_object(*(TVMFFIObject *const *)field);
  fh_any_copy(&view, out);
  return 0;
}

/* The other plain types (small and raw text, the address of a DLTensor) are not types of fields. */
int fh_field_getter(int32_t type_index, TVMFFIFieldGetter *out) {
  switch (type_index) {
  case kTVMFFIInt: *out = get_int; return 0;
  case kTVMFFIFloat: *out = get_float; return 0;
  case kTVMFFIBool: *out = get_bool; return 0;
  case kTVMFFIOpaquePtr: *out = get_ptr; return 0;
  case kTVMFFIDataType: *out = get_dtype; return 0;
  case kTVMFFIDevice: *out = get_device; return 0;
  case kTVMFFIAny:
  case kTVMFFINone: *out = get_any; return 0;
  default: break;
  }
  *out = get_object;
  if (type_index >= kTVMFFIStaticObjectBegin) return 0;
  return fh_error_raise(FH_VALUE_ERROR, "Expected the type index of a readable field but got %d", (int)type_index);
}

/* ---- Setters ---- */

/* The closure of a setter. `converter` is the binding's, and lives as long as the process. */
typedef struct {
  int32_t type_index;
  void *converter;
  fh_field_convert convert;
} setter;

static int raise_value_type(int32_t type_index, const TVMFFIAny *value) {
  return fh_error_raise(FH_TYPE_ERROR, "Expected a field value of type `%s` but got `%s`", fh_type_name(type_index),
                        fh_type_name(value->type_index));
}

/* Writes plain data: 1 done, 0 if the field holds no plain data, -1 for a value that does not fit. */
static int write_plain(void *field, int32_t type_index, const TVMFFIAny *value) {
  /* The converter's result is checked too: the bits of another type would be taken for those of the field's. */
  int is_int = value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
  switch (type_index) {
  case kTVMFFIInt:
    if (!is_int) break;
    *(int64_t *)field = value->v_int64;
    return 1;
  case kTVMFFIBool:
    if (!is_int) break;
    *(uint8_t *)field = value->v_int64 != 0;
    return 1;
  case kTVMFFIFloat:
    if (!is_int && value->type_index != kTVMFFIFloat) break;
    *(double *)field = is_int ? (double)value->v_int64 : value->v_float64;
    return 1;
  case kTVMFFIOpaquePtr:
    if (value->type_index != kTVMFFIOpaquePtr && value->type_index != kTVMFFINone) break;
    *(void **)field = value->type_index == kTVMFFINone ? NULL : value->v_ptr;
    return 1;
  case kTVMFFIDataType:
    if (value->type_index != kTVMFFIDataType) break;
    *(DLDataType *)field = value->v_dtype;
    return 1;
  case kTVMFFIDevice:
    if (value->type_index != kTVMFFIDevice) break;
    *(DLDevice *)field = value->v_device;
    return 1;
  default: return 0;
  }
  return raise_value_type(type_index, value);
}

/* Writes an owned value. *value becomes what was in the field, for the caller to drop. On -1 the field is as it was. */
static int write_value(void *field, int32_t type_index, TVMFFIAny *value) {
  int rc = write_plain(field, type_index, value);
  if (rc != 0) return rc < 0 ? -1 : 0;
  /* Swapped, so that the caller drops the former value when the field has the new one already. */
  if (type_index < kTVMFFIStaticObjectBegin) { /* Any, None */
    TVMFFIAny old = *(TVMFFIAny *)field;
    *(TVMFFIAny *)field = *value;
    *value = old;
    return 0;
  }
  if (value->type_index != kTVMFFINone && !fh_any_is_object(value)) return raise_value_type(type_index, value);
  TVMFFIObject *old = *(TVMFFIObject **)field;
  *(TVMFFIObject **)field = fh_any_is_object(value) ? value->v_obj : NULL;
  *value = fh_any_object(old);
  return 0;
}

/* Function(address of the field, value). */
static int set_field(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(result);
  const setter *s = (const setter *)self;
  const char *name = "ffi.MakeFieldSetter.<setter>";
  void *field;
  if (fh_function_check_count(name, n_args, 2) != 0 || fh_function_arg_ptr(name, args, 0, &field) != 0) return -1;
  if (field == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the address of a field but got NULL");
  TVMFFIAny value = fh_any_none();
  /* The value is converted before the field is touched: a conversion is foreign code and may fail. */
  if (s->convert(s->converter, &args[1], &value) != 0) return -1;
  int rc = write_value(field, s->type_index, &value);
  fh_any_drop(&value);
  return rc;
}

int fh_field_setter(int32_t type_index, void *converter, fh_field_convert convert, TVMFFIObjectHandle *out) {
  TVMFFIFieldGetter getter;
  if (convert == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a function to convert values but got NULL");
  /* What can be read can be written; only the error says something else. */
  if (fh_field_getter(type_index, &getter) != 0) {
    fh_error_clear();
    return fh_error_raise(FH_VALUE_ERROR, "Expected the type index of a writable field but got %d", (int)type_index);
  }
  setter *s = (setter *)fh_mem_alloc(sizeof *s);
  if (s == NULL) return fh_error_raise_no_memory();
  s->type_index = type_index;
  s->converter = converter;
  s->convert = convert;
  if (fh_function_new(s, set_field, fh_mem_free, out) != 0) {
    fh_mem_free(s);
    return -1;
  }
  return 0;
}
