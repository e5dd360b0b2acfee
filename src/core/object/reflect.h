/* reflect.h - the reflection data of types: fields, methods, metadata, attribute columns.
 *
 * Writers hold fh_type_lock, readers no lock. A list grows by an entry after the published count, or into a longer
 * copy; the old list is kept, so a reader sees complete entries in either. A column's struct never moves; its data may
 * be replaced by a longer copy, and the old data is kept. */
#pragma once

#include "any.h"
#include "core/platform/sync.h"
#include "field_guard.h"
#include "type.h"

/* The columns that exist from the start: clients ask for a column once and cache the answer, even a NULL. In the order
 * of their names in reflect.c. */
typedef enum {
  FH_ATTR_ANY_HASH,        /* __any_hash__ */
  FH_ATTR_ANY_EQUAL,       /* __any_equal__ */
  FH_ATTR_SHALLOW_COPY,    /* __ffi_shallow_copy__ */
  FH_ATTR_REPR,            /* __ffi_repr__ */
  FH_ATTR_HASH,            /* __ffi_hash__ */
  FH_ATTR_EQ,              /* __ffi_eq__ */
  FH_ATTR_COMPARE,         /* __ffi_compare__ */
  FH_ATTR_NEW,             /* __ffi_new__ */
  FH_ATTR_INIT,            /* __ffi_init__ */
  FH_ATTR_CONVERT,         /* __ffi_convert__ */
  FH_ATTR_ENUM,            /* __ffi_enum__ */
  FH_ATTR_S_EQUAL,         /* __s_equal__ */
  FH_ATTR_S_HASH,          /* __s_hash__ */
  FH_ATTR_S_VISIT,         /* __s_visit__ */
  FH_ATTR_S_MUTATE,        /* __s_mutate__ */
  FH_ATTR_S_INPLACE,       /* __s_maybe_inplace_mutate__ */
  FH_ATTR_DATA_TO_JSON,    /* __data_to_json__ */
  FH_ATTR_DATA_FROM_JSON,  /* __data_from_json__ */
  FH_ATTR_ENUM_ENTRIES,    /* __ffi_enum_entries__, in libraries of 0.1.11 and 0.1.12 instead of __ffi_enum__ */
  FH_ATTR_ENUM_ATTRS,      /* __ffi_enum_attrs__, in the same libraries */
  FH_ATTR_COUNT
} fh_reflect_attr_id;

/* One of the columns above; never NULL. */
const TVMFFITypeAttrColumn *fh_reflect_column(fh_reflect_attr_id id);
/* The name of a column, as "__ffi_repr__". */
const char *fh_reflect_attr_name(fh_reflect_attr_id id);
/* The attribute of exactly this type, without its ancestors: borrowed, valid forever; NULL if the type has none, or
 * None. Lock-free; `column` may be NULL. */
const TVMFFIAny *fh_reflect_attr(const TVMFFITypeAttrColumn *column, int32_t type_index);

/* Reserves the slot for the attribute of a registered type, so that setting it needs no memory. -1 without memory, with
 * no error pending. */
int fh_reflect_reserve_attr(fh_reflect_attr_id id, int32_t type_index);
/* Sets __ffi_type_final__ of a type; a nonzero is_final means that no type derives from this one. -1 with an error
 * pending. */
int fh_reflect_set_final(int32_t type_index, bool is_final);

/* Iterates over all fields of a type, the root's first, in order of declaration. Begin with fh_reflect_fields. A NULL
 * type has no fields. */
typedef struct {
  const TVMFFITypeInfo *info;
  int32_t depth; /* depth of the type whose own fields follow those between `next` and `end` */
  const TVMFFIFieldInfo *next, *end;
} fh_reflect_cursor;
static inline fh_reflect_cursor fh_reflect_fields(const TVMFFITypeInfo *info) {
  fh_reflect_cursor cursor = {info, 0, NULL, NULL};
  return cursor;
}
/* The first field of the next type that has any; NULL at the end. */
const TVMFFIFieldInfo *fh_reflect_next_level(fh_reflect_cursor *cursor);
/* The next field, valid forever; NULL at the end. Lock-free. */
static inline const TVMFFIFieldInfo *fh_reflect_next_field(fh_reflect_cursor *cursor) {
  return cursor->next != cursor->end ? cursor->next++ : fh_reflect_next_level(cursor);
}
/* The field of that name that the type itself declares, valid forever; NULL if there is none. Lock-free, in constant
 * time. */
const TVMFFIFieldInfo *fh_reflect_own_field(const TVMFFITypeInfo *info, TVMFFIByteArray name);
/* Whether an ancestor may have a field with the same name as a field that the type itself declares. Lock-free. */
bool fh_reflect_may_repeat(const TVMFFITypeInfo *info);
/* The number of all fields. Lock-free. */
int32_t fh_reflect_count_fields(const TVMFFITypeInfo *info);
/* Calls visit(state, field) for all fields, in the order of the cursor. Stops at the first nonzero result and returns
 * it. No lock is held. */
int fh_reflect_each_field(const TVMFFITypeInfo *info, int (*visit)(void *state, const TVMFFIFieldInfo *field),
                          void *state);

/* Raises the TypeError of a field without a getter. Always -1. */
FH_COLD int fh_reflect_raise_unreadable(const TVMFFIFieldInfo *field);
/* Reads a field of an object that no other thread uses: the caller owns *out; None on -1. */
static inline int fh_reflect_get_alone(const TVMFFIFieldInfo *field, void *obj, TVMFFIAny *out) {
  *out = fh_any_none();
  if (FH_UNLIKELY(field->getter == NULL)) return fh_reflect_raise_unreadable(field);
  fh_sync_check_unlocked("a field getter");
  return field->getter((char *)obj + field->offset, out);
}
/* As fh_reflect_get_alone, for an object that other threads may share. */
static inline int fh_reflect_get(const TVMFFIFieldInfo *field, void *obj, TVMFFIAny *out) {
  if (!fh_field_guard_is_for(field)) return fh_reflect_get_alone(field, obj, out);
  *out = fh_any_none();
  if (FH_UNLIKELY(field->getter == NULL)) return fh_reflect_raise_unreadable(field);
  fh_sync_check_unlocked("a field getter");
  return fh_field_guard_get(field->getter, (TVMFFIObject *)obj, field->offset, out);
}
/* Writes a view to a field of an object that no other thread reads yet, such as a copy in progress, by the field's C
 * setter or its Function; TypeError if it has neither. */
int fh_reflect_set(const TVMFFIFieldInfo *field, void *obj, const TVMFFIAny *value);

/* Makes the columns of fh_reflect_attr_id; for the load-time constructor. */
void fh_reflect_init(void);
/* Runs at the end of that constructor. An attribute that the core has set before may be registered again without an
 * error, and without an effect. */
void fh_reflect_end_own(void);

/* --- type schemas as metadata ------------------------------------------------------------------------------------- */

/* Macros for type schemas in metadata: JSON inside a JSON string, which explains the backslashes. Literals
 * only:
 *
 *   FH_SCHEMA(FH_SCHEMA_FUNCTION(FH_SCHEMA_TYPE("bool"), FH_SCHEMA_TYPE("Any") "," FH_SCHEMA_TYPE("int"))) */

/* A type by its name, without and with arguments; several are separated by ",". */
#define FH_SCHEMA_TYPE(name) "{\\\"type\\\":\\\"" name "\\\"}"
#define FH_SCHEMA_GENERIC(name, args) "{\\\"type\\\":\\\"" name "\\\",\\\"args\\\":[" args "]}"
#define FH_SCHEMA_FUNCTION(result, params) \
  "{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[" result "],\\\"params\\\":[" params "]}}"

/* The whole metadata of a field or function. */
#define FH_SCHEMA(type) "{\"type_schema\":\"" type "\"}"

#define FH_SCHEMA_ANY FH_SCHEMA_TYPE("Any")
#define FH_SCHEMA_INT FH_SCHEMA_TYPE("int")
#define FH_SCHEMA_BOOL FH_SCHEMA_TYPE("bool")
#define FH_SCHEMA_STR FH_SCHEMA_TYPE("ffi.String")
#define FH_SCHEMA_OBJECT FH_SCHEMA_TYPE("ffi.Object")
#define FH_SCHEMA_OPTIONAL(type) FH_SCHEMA_GENERIC("Optional", type)
