/* field.c - the accessors of inline fields, whose layout a binding chose.
 *
 * A getter is a plain C function for each C type. A setter has to convert by the field's type, which only the binding
 * knows, so it is a Function whose closure contains the binding's converter. */
#include "field.h"

#include "core/object/error.h"
#include "core/object/field_memory.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "create.h"

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
static bool shape_value(int32_t type_index, TVMFFIAny *value) {
  bool is_int = value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
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
  case kTVMFFINone: return true;
  default: return value->type_index == kTVMFFINone || fh_any_is_object(value);
  }
}

/* Function(address of the field, value). */
FH_CODE(set_field) {
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
  setter *s = (setter *)fh_mem_alloc(sizeof(*s));
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

/* --- objects of these types -------------------------------------------------------------------------------------- */

/* Objects of types with inline fields, whose layout a binding chose.
 *
 * Such a struct has no C++ class. The work of constructor, copy constructor and destructor is done here by a loop over
 * the reflected fields, ancestors' included: the static type and size of a field determine its memory layout. One
 * deleter serves all of these types, since an object's header contains its type. */

/* ---- One field ---- */

/* The memory layout of a field. */
typedef enum { PLAIN, CELL, POINTER } field_form;

/* See fh_record_register. A field of any type in 8 bytes is a pointer without a static type. */
static field_form form_of(const TVMFFIFieldInfo *field) {
  if (field->field_static_type_index >= kTVMFFIStaticObjectBegin) return POINTER;
  if (field->field_static_type_index != kTVMFFIAny) return PLAIN;
  return field->size == (int64_t)sizeof(void *) ? POINTER : CELL;
}

static void *address_of(const TVMFFIFieldInfo *field, void *obj) { return (char *)obj + field->offset; }

/* Drops the reference of a field and leaves it empty. A subclass may declare a field again at the same offset: then
 * this runs twice, and the second time the field is empty. */
static int end_field(void *obj, const TVMFFIFieldInfo *field) {
  field_form form = form_of(field);
  if (form == CELL) fh_any_drop((TVMFFIAny *)address_of(field, obj));
  if (form == POINTER) {
    TVMFFIObject **slot = (TVMFFIObject **)address_of(field, obj), *old = *slot;
    *slot = NULL;
    fh_object_release(old);
  }
  return 0;
}

typedef struct {
  void *from, *to;
  fh_field_memory_copying memory;
} copying;

/* Whether the copy has a value at that place already, because a subclass declares the field again. */
static bool is_copied(const void *to, field_form form) {
  return form == POINTER ? *(void *const *)to != NULL
                         : form == CELL && ((const TVMFFIAny *)to)->type_index != kTVMFFINone;
}

static int copy_field(void *state, const TVMFFIFieldInfo *field) {
  copying *c = (copying *)state;
  const void *from = address_of(field, c->from);
  void *to = address_of(field, c->to);
  if (is_copied(to, form_of(field))) return 0;
  int32_t type_index = form_of(field) == POINTER ? kTVMFFIObject : field->field_static_type_index;
  fh_field_memory_copy(&c->memory, from, to, type_index, (size_t)field->size);
  return 0;
}

/* ---- Objects ---- */

static void end_record(void *self) {
  const TVMFFITypeInfo *info = fh_type_find(fh_object_type_index(self));
  if (info != NULL) fh_reflect_each_field(info, end_field, self);
}
static void delete_record(void *self, int flags);
static const fh_object_owner owner = {delete_record, end_record};
static void delete_record(void *self, int flags) { fh_object_delete_owner(&owner, self, flags, 1); }

/* The closure of a type's __ffi_new__ and of its __ffi_shallow_copy__; each has its own copy. */
typedef struct {
  int32_t type_index;
  int64_t n_bytes;
} layout;

/* The object is zeroed, which is an empty value for every form of a field. */
FH_CODE(call_new) {
  const layout *l = (const layout *)self;
  if (fh_function_check_count("__ffi_new__", n_args, 0) != 0) return -1;
  return fh_any_give_object(fh_object_new((size_t)l->n_bytes, l->type_index, delete_record), result);
}

/* `from` may be of a subclass; the copy is of this type, and has only the fields of this type. */
FH_CODE(call_copy) {
  const layout *l = (const layout *)self;
  TVMFFIObject *from;
  if (fh_function_check_count("__ffi_shallow_copy__", n_args, 1) != 0) return -1;
  if (fh_function_arg_object("__ffi_shallow_copy__", args, 0, l->type_index, &from) != 0) return -1;
  copying c = {from, fh_object_new((size_t)l->n_bytes, l->type_index, delete_record), {NULL, NULL}};
  if (c.to == NULL) return -1;
  fh_reflect_each_field(fh_type_find(l->type_index), copy_field, &c);
  fh_field_memory_copy_end(&c.memory);
  *result = fh_any_object(c.to);
  return 0;
}

/* ---- Registration ---- */

/* Makes a Function with a copy of *l as its closure. On -1 *out is NULL. */
static int new_layout_function(const layout *l, TVMFFISafeCallType call, TVMFFIObjectHandle *out) {
  layout *own = (layout *)fh_mem_alloc(sizeof(*own));
  *out = NULL;
  if (own == NULL) return fh_error_raise_no_memory();
  *own = *l;
  if (fh_function_new(own, call, fh_mem_free, out) == 0) return 0;
  fh_mem_free(own);
  return -1;
}

/* The attributes of a type: the type gets all of them or, without memory, none. */
static const struct {
  fh_reflect_attr_id id;
  const char *name;
} attrs[] = {
    {FH_ATTR_INIT, "__ffi_init__"}, {FH_ATTR_NEW, "__ffi_new__"}, {FH_ATTR_SHALLOW_COPY, "__ffi_shallow_copy__"}};

/* Registers one Function for each of `attrs`, in that order. */
static int give_attrs(int32_t type_index, const TVMFFIObjectHandle *funcs) {
  /* Reserves all slots first, so that the loop below cannot fail halfway. */
  for (size_t i = 0; i < FH_COUNT_OF(attrs); ++i) {
    if (fh_reflect_reserve_attr(attrs[i].id, type_index) != 0) return fh_error_raise_no_memory();
  }
  for (size_t i = 0; i < FH_COUNT_OF(attrs); ++i) {
    TVMFFIByteArray name = fh_base_bytes(attrs[i].name);
    TVMFFIAny value = fh_any_object(funcs[i]);
    if (TVMFFITypeRegisterAttr(type_index, &name, &value) != 0) return -1;
  }
  return 0;
}

/* Whether every field lies inside an object of that size. */
static int check_field(void *state, const TVMFFIFieldInfo *field) {
  const layout *l = (const layout *)state;
  /* A cell is always 16 bytes and a pointer 8, independent of the declared size: the core reads and writes that
   * many. */
  field_form form = form_of(field);
  int64_t size = form == CELL ? (int64_t)sizeof(TVMFFIAny) : form == POINTER ? (int64_t)sizeof(void *) : field->size;
  if (field->offset >= (int64_t)sizeof(TVMFFIObject) && size >= 0 && field->offset <= l->n_bytes - size) return 0;
  return fh_error_raise(FH_VALUE_ERROR, "Expected field `%.*s` of `%s` inside %lld bytes but it has %lld at %lld",
                        FH_BYTES_ARGS(field->name), fh_type_name(l->type_index), (long long)l->n_bytes, (long long)size,
                        (long long)field->offset);
}

int fh_record_register(int32_t type_index, int64_t n_bytes) {
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  layout l = {type_index, n_bytes};
  TVMFFIObjectHandle funcs[FH_COUNT_OF(attrs)] = {NULL, NULL, NULL};
  if (info == NULL) return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find a type with index %d", (int)type_index);
  if (n_bytes < (int64_t)sizeof(TVMFFIObject) || n_bytes > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected the size of objects with a header of %d bytes but got %lld",
                          (int)sizeof(TVMFFIObject), (long long)n_bytes);
  }
  if (fh_reflect_each_field(info, check_field, &l) != 0) return -1;
  int rc = fh_create_constructor(type_index, &funcs[0]);
  if (rc == 0) rc = new_layout_function(&l, call_new, &funcs[1]);
  if (rc == 0) rc = new_layout_function(&l, call_copy, &funcs[2]);
  if (rc == 0) rc = give_attrs(type_index, funcs);
  for (size_t i = 0; i < FH_COUNT_OF(funcs); ++i) fh_object_release(funcs[i]);
  return rc;
}
