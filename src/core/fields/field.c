/* field.c - the accessors of inline fields, whose layout a binding chose.
 *
 * A getter is a plain C function for each C type. A setter has to convert by the field's type, which only the binding
 * knows, so it is a Function whose closure contains the binding's converter. */
#include "field.h"

#include "core/object/error.h"
#include "core/object/field_memory.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

int fh_field_getter(int32_t type_index, TVMFFIFieldGetter *out) {
  *out = fh_field_memory_getter(type_index);
  if (*out != NULL) return 0;
  return fh_error_raise(FH_VALUE_ERROR, "Expected the type index of a readable field but got %d", (int)type_index);
}

/* The closure of a setter. The binding owns `converter`, which lives as long as the process. */
typedef struct {
  int32_t type_index;
  void *converter;
  fh_field_convert convert;
} setter;

static int raise_value_type(int32_t type_index, const TVMFFIAny *value) {
  return fh_error_raise(FH_TYPE_ERROR, "Expected a field value of type `%s` but got `%s`", fh_type_name(type_index),
                        fh_type_name(value->type_index));
}

/* Whether a value has the form of the field's static type. A converter's result is checked too: otherwise the bits of
 * another type would be stored in the field. Converts an int for a float field. */
static int shape_value(int32_t type_index, TVMFFIAny *value) {
  int is_int = value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
  switch (type_index) {
  case kTVMFFIInt:
  case kTVMFFIBool: return is_int;
  case kTVMFFIFloat:
    if (is_int) *value = fh_any_float((double)value->v_int64);
    return value->type_index == kTVMFFIFloat;
  case kTVMFFIOpaquePtr: return value->type_index == kTVMFFIOpaquePtr || value->type_index == kTVMFFINone;
  case kTVMFFIDataType:
  case kTVMFFIDevice: return value->type_index == type_index;
  case kTVMFFIAny:
  case kTVMFFINone: return 1;
  default: return value->type_index == kTVMFFINone || fh_any_is_object(value);
  }
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
  /* The value is converted before the field changes: a conversion is foreign code and may fail. */
  if (s->convert(s->converter, &args[1], &value) != 0) return -1;
  int rc = 0;
  if (shape_value(s->type_index, &value)) {
    fh_field_memory_exchange(field, s->type_index, &value);
  } else {
    rc = raise_value_type(s->type_index, &value);
  }
  fh_any_drop(&value);
  return rc;
}

int fh_field_setter(int32_t type_index, void *converter, fh_field_convert convert, TVMFFIObjectHandle *out) {
  TVMFFIFieldGetter getter;
  if (convert == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a function to convert values but got NULL");
  /* Readable types are writable; only the error message differs. */
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
