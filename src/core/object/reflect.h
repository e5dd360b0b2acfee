/* reflect.h - what types say about themselves: fields, methods, metadata, attribute columns.
 *
 * Lists of a type grow by appending behind the published count, or into a longer copy while the old one is kept: who
 * reads without a lock sees complete entries. A column's struct never moves; its data may be replaced by a longer copy,
 * the old one is kept. Writers hold fh_type_lock. */
#ifndef FH_REFLECT_H_
#define FH_REFLECT_H_

#include "any.h"
#include "core/platform/sync.h"
#include "type.h"

/* The columns that exist from the start, because clients cache their pointers (NULL too). Same order as their names in
 * reflect.c. */
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
  FH_ATTR_COUNT
} fh_reflect_attr_id;

/* A column from the start. Never NULL after init. */
const TVMFFITypeAttrColumn *fh_reflect_column(fh_reflect_attr_id id);
/* Its name, as "__ffi_repr__". */
const char *fh_reflect_attr_name(fh_reflect_attr_id id);
/* The attribute of exactly this type (ancestors are not asked): borrowed, valid for ever; NULL when it has none (or
 * None). Lock-free; `column` may be NULL. */
const TVMFFIAny *fh_reflect_attr(const TVMFFITypeAttrColumn *column, int32_t type_index);

/* Makes room: giving this type, which is registered, the attribute then needs no memory. -1 without memory, nothing is
 * pending. */
int fh_reflect_reserve_attr(fh_reflect_attr_id id, int32_t type_index);
/* Tells, as __ffi_type_final__, whether types may derive from this one. -1 with an error pending. */
int fh_reflect_set_final(int32_t type_index, int is_final);

/* Goes through all fields, the root's first, in order of declaration. Start with fh_reflect_fields, or all zero but the
 * type, which may be NULL: then there are none. */
typedef struct {
  const TVMFFITypeInfo *info;
  int32_t depth; /* of the type that comes after the one whose own fields are going on */
  const TVMFFIFieldInfo *next, *end; /* of these fields, those to come */
} fh_reflect_cursor;
static inline fh_reflect_cursor fh_reflect_fields(const TVMFFITypeInfo *info) {
  fh_reflect_cursor cursor = {info, 0, NULL, NULL};
  return cursor;
}
/* The first field of the next type that has some. */
const TVMFFIFieldInfo *fh_reflect_next_level(fh_reflect_cursor *cursor);
/* The next field, valid for ever; NULL at the end. Lock-free. */
static inline const TVMFFIFieldInfo *fh_reflect_next_field(fh_reflect_cursor *cursor) {
  return cursor->next != cursor->end ? cursor->next++ : fh_reflect_next_level(cursor);
}
/* How many there are. Lock-free. */
int32_t fh_reflect_count_fields(const TVMFFITypeInfo *info);
/* Calls visit for every field in that order; stops at the first nonzero result and returns it. No lock is held. */
int fh_reflect_each_field(const TVMFFITypeInfo *info, int (*visit)(void *state, const TVMFFIFieldInfo *field),
                          void *state);

/* Raises the TypeError of a field without a getter. Always -1. */
FH_COLD int fh_reflect_raise_unreadable(const TVMFFIFieldInfo *field);
/* Reads a field: *out owned, or None on -1. */
static inline int fh_reflect_get(const TVMFFIFieldInfo *field, void *obj, TVMFFIAny *out) {
  *out = fh_any_none();
  if (FH_UNLIKELY(field->getter == NULL)) return fh_reflect_raise_unreadable(field);
  fh_sync_check_unlocked("a field getter");
  return field->getter((char *)obj + field->offset, out);
}
/* Writes one from a view, by a C setter or a Function; TypeError when it has no setter. */
int fh_reflect_set(const TVMFFIFieldInfo *field, void *obj, const TVMFFIAny *value);

void fh_reflect_init(void);

#endif /* FH_REFLECT_H_ */
