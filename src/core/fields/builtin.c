/* builtin.c - creating, copying, destroying and registering the built-in types that consist of fields.
 *
 * An interpreter of the tables that describe these types (fh_builtin_type). The code that a class of the reference has
 * in C++ is here a loop over the fields of a type and of its parents. field.c does that for types that are registered
 * at run time, by their reflected fields; here the tables are static, and contain more than reflection does.
 *
 * A setter may run while other threads read the object, so fields are read and written by the functions of
 * field_memory.h. */
#include "builtin.h"

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/container/stripe.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/atomic.h"

/* ---- One field in memory ---- */

/* The static types for field_memory.h of the fields of a kind, in the order of fh_builtin_kind. */
static const int32_t memory_types[] = {
    kTVMFFIInt, kTVMFFIInt, kTVMFFIAny, kTVMFFIAny, kTVMFFIObject, kTVMFFIObject, kTVMFFIObject,
};

static bool is_cell(const fh_builtin_field *field) {
  return field->kind == FH_BUILTIN_ANY || field->kind == FH_BUILTIN_STR;
}
static bool is_number(const fh_builtin_field *field) {
  return field->kind == FH_BUILTIN_INT || field->kind == FH_BUILTIN_INT32;
}
static void *address_of(const fh_builtin_field *field, void *obj) { return (char *)obj + field->offset; }

/* Sets the initial value of a field. Objects are zeroed before, which means None, 0 and NULL. */
static int fill_field(const fh_builtin_field *field, void *obj) {
  void *at = address_of(field, obj);
  switch (field->kind) {
  case FH_BUILTIN_STR: ((TVMFFIAny *)at)->type_index = kTVMFFISmallStr; return 0;
  case FH_BUILTIN_LIST: return (*(fh_seq_object **)at = fh_seq_new_list(0)) != NULL ? 0 : -1;
  case FH_BUILTIN_DICT: return (*(fh_hashmap_object **)at = fh_hashmap_new(kTVMFFIDict, 0)) != NULL ? 0 : -1;
  default: return 0;
  }
}

/* `to` is zeroed, so no old value must be dropped. */
static void copy_field(fh_field_memory_copying *copying, const fh_builtin_field *field, void *from, void *to) {
  const void *source = address_of(field, from);
  void *target = address_of(field, to);
  if (field->kind == FH_BUILTIN_INT32) {
    *(int32_t *)target = fh_atomic_load_relaxed_i32((const int32_t *)source);
  } else {
    fh_field_memory_copy(copying, source, target, memory_types[field->kind], sizeof(int64_t));
  }
}

static void end_field(const fh_builtin_field *field, void *obj) {
  void *at = address_of(field, obj);
  if (is_number(field)) return;
  if (is_cell(field)) {
    fh_any_drop((TVMFFIAny *)at);
    return;
  }
  TVMFFIObject *old = *(TVMFFIObject **)at;
  *(TVMFFIObject **)at = NULL; /* first: the release may run code that reads this object */
  fh_object_release(old);
}

/* ---- Objects ---- */

/* The index of a registered type. The tables are const, so the index is looked up and not stored in them. */
static int32_t index_of(const fh_builtin_type *type) { return fh_type_find_key(fh_base_bytes(type->key)); }

/* An alias names a field of the parent, which drops it; dropping it twice would do no harm, but filling or copying it
 * twice would leak a reference. */
void fh_builtin_end(const fh_builtin_type *type, void *self) {
  for (const fh_builtin_type *at = type; at != NULL; at = at->parent) {
    for (const fh_builtin_field *field = at->fields; field->name != NULL; ++field) {
      if (!field->is_alias) end_field(field, self);
    }
  }
}

/* Every field is empty: 0, None, or NULL. Such an object can be destroyed, but not used yet. */
static void *new_zeroed(const fh_builtin_type *type) {
  return fh_object_new((size_t)type->total_bytes, index_of(type), type->owner.deleter);
}

void *fh_builtin_new(const fh_builtin_type *type) {
  void *obj = new_zeroed(type);
  for (const fh_builtin_type *at = type; obj != NULL && at != NULL; at = at->parent) {
    for (const fh_builtin_field *field = at->fields; field->name != NULL; ++field) {
      if (field->is_alias || fill_field(field, obj) == 0) continue;
      /* Releasing the object drops the fields that are filled already; the others are empty. */
      fh_object_release(obj);
      return NULL;
    }
  }
  return obj;
}

int fh_builtin_create(const fh_builtin_type *type, TVMFFIObjectHandle *out) {
  *out = fh_builtin_new(type);
  return *out != NULL ? 0 : -1;
}

int fh_builtin_construct(const fh_builtin_type *type, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count(type->key, n_args, 0) != 0) return -1;
  return fh_any_give_object(fh_builtin_new(type), result);
}

/* __ffi_new__ and __ffi_shallow_copy__ of all types; the closure is the type's table. */
FH_CODE(call_new) { return fh_builtin_construct((const fh_builtin_type *)self, n_args, result); }

FH_CODE(call_copy) {
  const fh_builtin_type *type = (const fh_builtin_type *)self;
  const char *name = "__ffi_shallow_copy__";
  TVMFFIObject *from;
  if (fh_function_check_count(name, n_args, 1) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, index_of(type), &from) != 0) return -1;
  void *to = new_zeroed(type);
  fh_field_memory_copying copying = {NULL, NULL};
  if (to == NULL) return -1;
  for (const fh_builtin_type *at = type; at != NULL; at = at->parent) {
    for (const fh_builtin_field *field = at->fields; field->name != NULL; ++field) {
      if (!field->is_alias) copy_field(&copying, field, from, to);
    }
  }
  fh_field_memory_copy_end(&copying);
  *result = fh_any_object(to);
  return 0;
}

int fh_builtin_refuse_copy(void *self, FH_MAYBE_UNUSED const TVMFFIAny *args, int32_t n_args,
                           FH_MAYBE_UNUSED TVMFFIAny *result) {
  const fh_builtin_type *type = (const fh_builtin_type *)self;
  if (fh_function_check_count("__ffi_shallow_copy__", n_args, 1) != 0) return -1;
  return fh_error_raise(FH_TYPE_ERROR, "A `%s` is part of its caller's state and cannot be copied", type->key);
}

/* ---- Getters and setters ---- */

static int get_int32(void *field, TVMFFIAny *out) {
  *out = fh_any_int(fh_atomic_load_relaxed_i32((const int32_t *)field));
  return 0;
}
int fh_builtin_raise_convert(const TVMFFIAny *value, const char *expected) {
  return fh_error_raise(FH_TYPE_ERROR, "Cannot convert from type `%s` to `%s`", fh_type_name(value->type_index),
                        expected);
}

static bool is_int(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
}

static int set_int(void *field, const TVMFFIAny *value) {
  if (!is_int(value)) return fh_builtin_raise_convert(value, "int");
  fh_atomic_store_relaxed_u64((uint64_t *)field, value->v_uint64);
  return 0;
}

static int set_int32(void *field, const TVMFFIAny *value) {
  if (!is_int(value)) return fh_builtin_raise_convert(value, "int");
  if (value->v_int64 < INT32_MIN || value->v_int64 > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected an integer of 32 bits but got %lld", (long long)value->v_int64);
  }
  fh_atomic_store_relaxed_i32((int32_t *)field, (int32_t)value->v_int64);
  return 0;
}

/* Stores an owned value. The former value is dropped last, because that may run code that reads the field. */
static void exchange(void *field, int32_t memory_type, TVMFFIAny value) {
  fh_field_memory_exchange(field, memory_type, &value);
  fh_any_drop(&value);
}

static int set_any(void *field, const TVMFFIAny *value) {
  TVMFFIAny owned;
  if (fh_any_own(value, &owned) != 0) return -1;
  exchange(field, kTVMFFIAny, owned);
  return 0;
}

static int set_str(void *field, const TVMFFIAny *value) {
  TVMFFIByteArray content;
  return fh_str_content(value, &content) ? set_any(field, value) : fh_builtin_raise_convert(value, "str");
}

int fh_builtin_set_object(void *field, const TVMFFIAny *value, int32_t type_index, bool is_optional,
                          const char *expected) {
  TVMFFIAny owned;
  bool is_none = value->type_index == kTVMFFINone;
  /* None that is not allowed, or a value that is not an instance. */
  if (is_none ? !is_optional : !fh_any_is_object(value) || !fh_type_is_instance(value->type_index, type_index)) {
    return fh_builtin_raise_convert(value, expected);
  }
  fh_any_copy(value, &owned);
  exchange(field, kTVMFFIObject, owned);
  return 0;
}

int fh_builtin_put(void *field, void *obj) {
  if (obj == NULL) return -1;
  exchange(field, kTVMFFIObject, fh_any_object(obj));
  return 0;
}

/* Whether all items are objects or None, which means a null reference. C++ clients read the items as references,
 * without a check. Takes the lock, since the sequence may be a List. */
static bool has_references_only(const fh_seq_object *seq) {
  int64_t i = 0;
  fh_stripe_lock(seq);
  for (; i < fh_seq_size(seq); ++i) {
    const TVMFFIAny *item = &fh_seq_items(seq)[i];
    if (item->type_index != kTVMFFINone && !fh_any_is_object(item)) break;
  }
  bool result = i == fh_seq_size(seq);
  fh_stripe_unlock(seq);
  return result;
}

int fh_builtin_set_object_list(void *field, const TVMFFIAny *value) {
  const fh_seq_object *seq = (const fh_seq_object *)(const void *)value->v_obj;
  if (!fh_seq_is(value) || !has_references_only(seq)) return fh_builtin_raise_convert(value, "List<ffi.Object>");
  /* An Array does not change, so its items are read without the lock. */
  if (value->type_index == kTVMFFIArray) {
    return fh_builtin_put(field, fh_seq_from_views(kTVMFFIList, fh_seq_items(seq), fh_seq_size(seq)));
  }
  fh_object_retain(value->v_obj);
  return fh_builtin_put(field, value->v_obj);
}

/* ---- Registration ---- */

static TVMFFIByteArray text_or_none(const char *text) {
  TVMFFIByteArray none = {NULL, 0};
  return text != NULL ? fh_base_bytes(text) : none;
}

/* Properties of all fields of a kind, in the order of fh_builtin_kind. The static types are those of the reference,
 * even if they are less specific than the kind. */
static const struct {
  TVMFFIFieldSetter setter;
  int64_t n_bytes, alignment;
  int32_t static_type_index;
} kinds[] = {
    {set_int, sizeof(int64_t), sizeof(int64_t), kTVMFFIInt},
    {set_int32, sizeof(int32_t), sizeof(int32_t), kTVMFFIInt},
    {set_any, sizeof(TVMFFIAny), sizeof(int64_t), kTVMFFIAny},
    {set_str, sizeof(TVMFFIAny), sizeof(int64_t), kTVMFFIAny},
    {NULL, sizeof(void *), sizeof(void *), kTVMFFIAny},
    {NULL, sizeof(void *), sizeof(void *), kTVMFFIList},
    {NULL, sizeof(void *), sizeof(void *), kTVMFFIObject},
};

/* Copies the contents of a table into the ABI's struct, which the registry copies in turn. */
static int register_field(int32_t type_index, const fh_builtin_field *field) {
  TVMFFIFieldSetter setter = field->setter != NULL ? field->setter : kinds[field->kind].setter;
  TVMFFIFieldInfo info;
  memset(&info, 0, sizeof(info));
  info.name = fh_base_bytes(field->name);
  info.doc = text_or_none(field->doc);
  info.metadata = text_or_none(field->metadata);
  info.flags = field->flags;
  info.size = kinds[field->kind].n_bytes;
  info.alignment = kinds[field->kind].alignment;
  info.offset = field->offset;
  /* Bindings have no fields of 32 bits. */
  info.getter = field->kind == FH_BUILTIN_INT32 ? get_int32 : fh_field_memory_getter(memory_types[field->kind]);
  /* A C function in a void pointer: with another flag the member of the ABI's struct is a Function. */
  info.setter = (void *)(uintptr_t)setter;
  info.field_static_type_index = kinds[field->kind].static_type_index;
  return TVMFFITypeRegisterField(type_index, &info);
}

/* Makes a Function of the C code, without a closure; the registry keeps a reference to it. */
static int register_method(int32_t type_index, const fh_builtin_method *method) {
  TVMFFIMethodInfo info;
  TVMFFIObjectHandle func;
  memset(&info, 0, sizeof(info));
  info.name = fh_base_bytes(method->name);
  info.doc = text_or_none(method->doc);
  info.metadata = text_or_none(method->metadata);
  info.flags = method->flags;
  if (fh_function_new(NULL, method->call, NULL, &func) != 0) return -1;
  info.method = fh_any_object(func);
  int rc = TVMFFITypeRegisterMethod(type_index, &info);
  fh_object_release(func);
  return rc;
}

/* Registers a Function with `self` as its closure; the registry keeps a reference to it. */
static int set_attr(int32_t type_index, const char *attr, void *self, TVMFFISafeCallType call) {
  TVMFFIByteArray name = fh_base_bytes(attr);
  TVMFFIObjectHandle func;
  if (fh_function_new(self, call, NULL, &func) != 0) return -1;
  TVMFFIAny value = fh_any_object(func);
  int rc = TVMFFITypeRegisterAttr(type_index, &name, &value);
  fh_object_release(func);
  return rc;
}

int fh_builtin_set_function(int32_t type_index, const char *attr, TVMFFISafeCallType call) {
  return set_attr(type_index, attr, NULL, call);
}

int fh_builtin_set_native(int32_t type_index, const char *attr, void *function) {
  TVMFFIByteArray name = fh_base_bytes(attr);
  TVMFFIAny value = fh_any_ptr(function);
  return TVMFFITypeRegisterAttr(type_index, &name, &value);
}

static int register_metadata(int32_t type_index, const fh_builtin_type *type) {
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.creator = type->creator;
  metadata.total_size = type->total_bytes;
  metadata.structural_eq_hash_kind = type->kind;
  return TVMFFITypeRegisterMetadata(type_index, &metadata);
}

int32_t fh_builtin_register(const fh_builtin_type *type) {
  const TVMFFITypeInfo *parent = fh_type_find(type->parent != NULL ? index_of(type->parent) : kTVMFFIObject);
  if (parent == NULL) return -1; /* its registration failed before, and that error is still pending */
  /* No indices are reserved for children: their types get any free index. */
  int32_t type_index =
      fh_type_add(fh_base_bytes(type->key), -1, parent->type_depth + 1, 0, !type->is_final, parent->type_index);
  void *self = (void *)(uintptr_t)type; /* the Functions only read it */
  if (type_index < 0 || register_metadata(type_index, type) != 0) return -1;
  if (fh_reflect_set_final(type_index, type->is_final) != 0) return -1;
  /* Only the type's own fields: reflection finds the parents' fields by ancestry. */
  for (const fh_builtin_field *field = type->fields; field->name != NULL; ++field) {
    if (register_field(type_index, field) != 0) return -1;
  }
  for (const fh_builtin_method *method = type->methods; method != NULL && method->name != NULL; ++method) {
    if (register_method(type_index, method) != 0) return -1;
  }
  if (set_attr(type_index, "__ffi_shallow_copy__", self, type->copy != NULL ? type->copy : call_copy) != 0) return -1;
  if (type->creator != NULL && set_attr(type_index, "__ffi_new__", self, call_new) != 0) return -1;
  return type_index;
}
