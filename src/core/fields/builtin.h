/* builtin.h - the built-in object types that consist of reflected fields: declared as data, so that all of them share
 * the code that creates, copies and destroys their objects. */
#pragma once

#include "core/object/any.h"
#include "core/object/field_memory.h"

/* The memory layout of a field, and its value in a new object. */
typedef enum {
  FH_BUILTIN_INT, /* int64_t, 0 */
  FH_BUILTIN_INT32, /* int32_t, 0 */
  FH_BUILTIN_ANY, /* a cell, None */
  FH_BUILTIN_STR, /* a cell that holds a string, "" */
  FH_BUILTIN_OBJECT, /* a pointer, NULL for None */
  FH_BUILTIN_LIST, /* a pointer to a List, empty */
  FH_BUILTIN_DICT /* a pointer to a Dict, empty */
} fh_builtin_kind;

typedef struct {
  const char *name, *doc;
  const char *metadata; /* JSON, see schema.h */
  fh_builtin_kind kind;
  int64_t offset;
  int64_t flags; /* kTVMFFIFieldFlagBitMask*; a default is None */
  TVMFFIFieldSetter setter; /* NULL: the setter of the kind; pointers have no default setter */
  bool is_alias; /* another name of a field of the parent */
} fh_builtin_field;

typedef struct {
  const char *name, *doc, *metadata;
  int64_t flags;
  TVMFFISafeCallType call; /* checks its arguments itself */
} fh_builtin_method;

typedef struct fh_builtin_type {
  const char *key;
  const struct fh_builtin_type *parent; /* NULL: ffi.Object */
  bool is_final; /* no type derives from it */
  int32_t total_bytes;
  TVMFFISEqHashKind kind;
  const fh_builtin_field *fields; /* the type's own fields; the last entry has no name */
  const fh_builtin_method *methods; /* NULL, or an array whose last entry has no name */
  TVMFFIObjectCreator creator; /* calls fh_builtin_create; NULL: other code creates the objects */
  fh_object_owner owner; /* its deleter calls fh_object_delete_owner, its `end` calls fh_builtin_end */
  TVMFFISafeCallType copy; /* __ffi_shallow_copy__; NULL: a copy of every field */
} fh_builtin_type;

/* Registers the type, its metadata, fields, methods, __ffi_shallow_copy__ and, with a creator, __ffi_new__. Returns the
 * type's index, or -1 with an error pending. The descriptor must live as long as the process. */
int32_t fh_builtin_register(const fh_builtin_type *type);
/* Registers one attribute: a Function of this library, or the address of a native function. */
int fh_builtin_set_function(int32_t type_index, const char *attr, TVMFFISafeCallType call);
int fh_builtin_set_native(int32_t type_index, const char *attr, void *function);

/* A `copy` for types whose objects cannot be copied: raises a TypeError. */
int fh_builtin_refuse_copy(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* Makes an object with the initial value of each field; NULL with an error pending. */
void *fh_builtin_new(const fh_builtin_type *type);
/* fh_builtin_new with the contract of a creator. */
int fh_builtin_create(const fh_builtin_type *type, TVMFFIObjectHandle *out);
/* fh_builtin_new as the body of a Function without arguments; TypeError if it gets arguments. */
int fh_builtin_construct(const fh_builtin_type *type, int32_t n_args, TVMFFIAny *result);

/* Defines name_type with initialisers of fh_builtin_type, and its creator and owner. */
#define FH_BUILTIN_TYPE(name, ...)                                                                                 \
  static const fh_builtin_type name##_type;                                                                        \
  static int create_##name(TVMFFIObjectHandle *out) { return fh_builtin_create(&name##_type, out); }               \
  static void end_##name(void *self) { fh_builtin_end(&name##_type, self); }                                       \
  static void delete_##name(void *self, int flags) { fh_object_delete_owner(&name##_type.owner, self, flags, 1); } \
  static const fh_builtin_type name##_type = {                                                                     \
      .creator = create_##name, .owner = {delete_##name, end_##name}, __VA_ARGS__}

/* The current value of a field of an object that threads share: a setter in another thread may replace it. The caller
 * owns the result; a pointer may be NULL. */
static inline TVMFFIAny fh_builtin_get_any(const TVMFFIAny *field) {
  TVMFFIAny value;
  fh_field_memory_read(field, kTVMFFIAny, &value);
  return value;
}
static inline void *fh_builtin_get_object(TVMFFIObject *const *field) {
  TVMFFIAny value;
  fh_field_memory_read((const void *)field, kTVMFFIObject, &value);
  return value.type_index == kTVMFFINone ? NULL : value.v_obj;
}
/* Drops the references of the fields. */
void fh_builtin_end(const fh_builtin_type *type, void *self);

/* For setters of pointer fields: stores an object that is an instance of type_index or, with is_optional, NULL for
 * None. A TypeError names `expected`. */
int fh_builtin_set_object(void *field, const TVMFFIAny *value, int32_t type_index, bool is_optional,
                          const char *expected);
/* A setter: stores a List of objects and None, or copies an Array of these into a List. TypeError for anything else. */
int fh_builtin_set_object_list(void *field, const TVMFFIAny *value);
/* Stores an object and steals the caller's reference. -1 for NULL, which means that an error is pending. */
int fh_builtin_put(void *field, void *obj);
/* Raises the TypeError of a setter. Always -1. */
FH_COLD int fh_builtin_raise_convert(const TVMFFIAny *value, const char *expected);

/* --- conversion -------------------------------------------------------------------------------------------------- */

/* __ffi_convert__ of the built-in types: a binding calls it to convert a value to a type. */

void fh_convert_init(void);
