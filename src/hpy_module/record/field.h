/* Reflected fields: how Python code reads and writes them. */
#ifndef FFI_HPY_RECORD_FIELD_H_
#define FFI_HPY_RECORD_FIELD_H_

#include <tvm/ffi/c_api.h>

#include "core/object/field_access.h"
#include "hpy_module/context/ref.h"
#include "hpy_module/schema/schema.h"

/* One field of a native type. Made once, constant afterwards, lives as long as the process, as types do.
 *
 * The fields of types that are defined in Python (define.h) are `laid_out`: they have a schema and memory of a known
 * form, so that a value is written without a call of the setter, which is for native code. The getter and the setter of
 * any other field are its library's; `is_guarded` says that they run inside the guard of the object
 * (core/object/field_guard.h). */
typedef struct FbField {
  int32_t type_index; /* the type that declares the field */
  int32_t type_depth;
  int64_t offset;       /* bytes from the handle */
  int32_t static_index; /* form of the memory: TVMFFIFieldInfo.field_static_type_index */
  bool is_laid_out;
  bool is_guarded;
  TVMFFIFieldGetter getter;
  TVMFFIFieldSetter setter;      /* NULL if the setter is a Function or there is none */
  TVMFFIObject *setter_function; /* owned; NULL if there is none */
  const FbSchema *schema;        /* converts Python values; NULL: they are passed to the setter as to any function */
  FbRef initial;                /* laid out: default value or factory as Python has it; empty: none */
  char *name;           /* "key.field", for messages */
  const char *own_name; /* the end of it, without the key; for messages, too: a text with a NUL inside is cut there */
} FbField;

/* A field with its type and its name, and nothing else yet; NULL with MemoryError raised. */
FbField *fb_field_new(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIByteArray *name);
/* The `which`th own field of a type: as it was defined in Python, or made from the registry's entry, then with `schema`
 * (may be NULL). NULL with an exception raised. */
const FbField *fb_field_find(HPyContext *ctx, const TVMFFITypeInfo *type, int32_t which, const FbSchema *schema);

/* Copies the value of the field in `object`, which the caller keeps alive, into *out, which owns it and was None.
 * Returns 0, or -1 with a native error pending. Any thread may call it. */
int fb_field_copy(const FbField *field, TVMFFIObject *object, TVMFFIAny *out);
/* The value of the field in `object`, which the caller keeps alive. New handle, or HPy_NULL with an exception
 * raised. */
HPy fb_field_read(HPyContext *ctx, const FbField *field, TVMFFIObject *object);
/* Sets the field to a value. Conversion and setter may run Python code. Returns 0, or -1 with an exception raised. A
 * message begins with `what`, "key.__ffi_init__() field" or the like, and the field's name; NULL: the value was
 * assigned. */
int fb_field_write(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what);
/* Passes a native value to the setter. Returns 0, or -1 with a native error pending. Any thread may call it. */
int fb_field_set_native(const FbField *field, TVMFFIObject *object, const TVMFFIAny *value);
/* Passes a native value to the setter. Returns 0, or -1 with an exception raised: as fb_field_write, with `what` that
 * is not NULL. */
int fb_field_set(HPyContext *ctx, const FbField *field, TVMFFIObject *object, const TVMFFIAny *value, const char *what);
/* A Python value as what a field with a schema holds, owned by the caller. Returns 0, or -1 with an exception
 * raised. */
int fb_field_convert(HPyContext *ctx, const FbField *field, HPy value, const char *what, TVMFFIAny *out);
/* Puts such a value into a laid out field, and the former value into *value. Any thread may call it. */
void fb_field_put(const FbField *field, TVMFFIObject *object, TVMFFIAny *value);
/* As fb_field_put, for an object that is being made. */
void fb_field_fill(const FbField *field, TVMFFIObject *object, TVMFFIAny *value);
/* The addresses of the field, fb_field_copy, fb_field_put and fb_field_set_native, for calls from elsewhere without the
 * GIL. */
enum { FB_FIELD_N_ADDRESSES = 4 };
void fb_field_lend(const FbField *field, int64_t addresses[FB_FIELD_N_ADDRESSES]);

/* The core's, or one for a core that has none. Written once during the import, by fb_field_init. */
extern FB_HIDDEN const fh_field_access *fb_field_access;
void fb_field_init(void);

#endif /* FFI_HPY_RECORD_FIELD_H_ */
