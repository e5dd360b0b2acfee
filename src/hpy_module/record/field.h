/* The fields of types that Python code defined, by type index. Any thread reads the table without a lock. */
#pragma once

#include <stdint.h>
#include <tvm/ffi/c_api.h>

#include "core/object/field_access.h"
#include "hpy_module/context/context.h"
#include "hpy_module/schema/schema.h"

/* The fields of one type. Complete before it is published, constant afterwards, never freed. */
typedef struct FbFieldTable {
  int32_t type_index;
  int32_t n_fields;
  struct FbFieldTable *next;
  const struct FbField *fields[];
} FbFieldTable;

/* Publishes a table, which must never be freed. */
void fb_field_table_publish(FbFieldTable *table);

/* --- fields ------------------------------------------------------------------------------------------------------ */

/* Reflected fields: reading and writing them from Python code. */

/* One field of a native type. Constant once it is made, and alive as long as the process, like types.
 *
 * The fields of types that are defined in Python (record.h) are inline fields (`is_laid_out`): they have a schema and
 * memory of a known form, so that the binding writes a value without a call of the setter, which is for native code.
 * The getter and the setter of any other field belong to its library; `is_guarded` tells that they run inside the guard
 * of the object (core/object/field_guard.h). */
typedef struct FbField {
  int32_t type_index; /* the type that declares the field */
  int32_t type_depth;
  int64_t offset;       /* bytes from the handle */
  int32_t static_index; /* the form of the memory: TVMFFIFieldInfo.field_static_type_index */
  bool is_laid_out;
  bool is_guarded;
  TVMFFIFieldGetter getter;
  TVMFFIFieldSetter setter;      /* NULL if the setter is a Function or there is none */
  TVMFFIObject *setter_function; /* owned; NULL if there is none */
  /* converts Python values; NULL: values are passed to the setter like arguments of a call */
  const FbSchema *schema;
  FbRef initial;                /* inline field: default value or factory as a Python object; empty: none */
  char *name;           /* "key.field", for messages */
  const char *own_name; /* the part of `name` after the key, for messages; messages truncate it at a NUL */
} FbField;

/* Makes a field with its type and its name only; NULL with MemoryError raised. */
FbField *fb_field_new(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIByteArray *name);
/* Returns the `which`th own field of a type: as defined in Python, or made from the registry's entry with `schema` (may
 * be NULL). NULL with an exception raised. */
const FbField *fb_field_find(HPyContext *ctx, const TVMFFITypeInfo *type, int32_t which, const FbSchema *schema);

/* Copies the value of a field of `object`, which the caller keeps alive, to *out. *out must be None before, and owns
 * the value afterwards. Returns 0, or -1 with a native error pending. Any thread may call it. */
int fb_field_copy(const FbField *field, TVMFFIObject *object, TVMFFIAny *out);
/* Returns the value of a field of `object`, which the caller keeps alive: a new handle, or HPy_NULL with an exception
 * raised. */
HPy fb_field_read(HPyContext *ctx, const FbField *field, TVMFFIObject *object);
/* Sets the field to a Python value. Conversion and setter may run Python code. Returns 0, or -1 with an exception
 * raised. A message begins with `what`, for example "key.__ffi_init__() field", and the field's name; NULL: an
 * assignment. */
int fb_field_write(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what);
/* Passes a native value to the setter. Returns 0, or -1 with a native error pending. Any thread may call it. */
int fb_field_set_native(const FbField *field, TVMFFIObject *object, const TVMFFIAny *value);
/* Passes a native value to the setter. Returns 0, or -1 with an exception raised, like fb_field_write with a `what`
 * that is not NULL. */
int fb_field_set(HPyContext *ctx, const FbField *field, TVMFFIObject *object, const TVMFFIAny *value, const char *what);
/* Converts a Python value for a field with a schema; the caller owns *out. Returns 0, or -1 with an exception
 * raised. */
int fb_field_convert(HPyContext *ctx, const FbField *field, HPy value, const char *what, TVMFFIAny *out);
/* Exchanges such a value with the value of an inline field. Any thread may call it. */
void fb_field_put(const FbField *field, TVMFFIObject *object, TVMFFIAny *value);
/* Like fb_field_put, for an object under construction. */
void fb_field_fill(const FbField *field, TVMFFIObject *object, TVMFFIAny *value);
/* Stores the pointers of the field, fb_field_copy, fb_field_put and fb_field_set_native, for calls from the cffi
 * backend without the GIL. */
enum { FB_FIELD_N_ADDRESSES = 4 };
void fb_field_lend(const FbField *field, int64_t addresses[FB_FIELD_N_ADDRESSES]);

/* The core's functions, or substitutes for a core without them. Written once during the import, by fb_field_init. */
extern FB_HIDDEN const fh_field_access *fb_field_access;
void fb_field_init(void);
