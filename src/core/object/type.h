/* type.h - the type registry: key to index, index to entry, ancestry.
 *
 * Entries are complete before they are published, never change their identity part, never move and are never freed.
 * Writers hold fh_type_lock; readers hold nothing. */
#ifndef FH_TYPE_H_
#define FH_TYPE_H_

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "name.h"

/* The entry of an index, NULL when no type has it. Any int is allowed. Lock-free. */
const TVMFFITypeInfo *fh_type_find(int32_t type_index);
/* The index of a key, -1 when unknown; no error pending. Lock-free. */
int32_t fh_type_find_key(TVMFFIByteArray type_key);
/* The type key, or "<unknown type>": for messages, NUL-terminated, never NULL. */
const char *fh_type_name(int32_t type_index);
/* A type's metadata; NULL while it has none. Others may register it meanwhile, so info->metadata is read here only. */
static inline const TVMFFITypeMetadata *fh_type_metadata(const TVMFFITypeInfo *info) {
  /* acquire: pairs with the release store in TVMFFITypeRegisterMetadata */
  return (const TVMFFITypeMetadata *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&info->metadata);
}
/* One past the highest index that a type has or that is reserved for descendants, for loops over all types.
 * fh_type_find returns NULL for indices without a type. */
int32_t fh_type_end(void);

/* Whether objects of `type_index` are instances of `ancestor` (or it itself). Unknown indices are instances of
 * nothing. Lock-free. */
int fh_type_is_instance(int32_t type_index, int32_t ancestor);

/* What TVMFFITypeGetOrAllocIndex does: gives the index of the type, which is registered if need be; -2 for an unknown
 * key if parent_index is -2, which only asks; -1 with an error pending. */
int32_t fh_type_add(TVMFFIByteArray type_key, int32_t static_index, int32_t depth, int32_t n_child_slots,
                    int can_overflow, int32_t parent_index);

/* Registers the static types; for the load-time constructor. */
void fh_type_init(void);

/* ---- For reflect.c, which owns the reflection part of an entry ---- */

typedef struct {
  fh_name_entry by_key;  /* first: the key table finds the entry by it */
  TVMFFITypeInfo info;   /* what clients see; fields, methods and metadata change under the lock, see reflect.h */
  TVMFFITypeMetadata metadata; /* what info.metadata points at, once */
  int32_t n_slots;       /* indices from the type's own on, for it and its descendants; fixed before publication */
  int32_t n_slots_used;  /* of these, in use or reserved by children; under the lock */
  int can_overflow;
  int32_t has_guarded_field; /* whether fh_field_guard_is_for holds for one of its own fields; set under the lock */
  int32_t n_children; /* types that derive from it directly; under the lock */
  /* For reflect.c. */
  fh_name_table fields_by_name, methods_by_name; /* of types that have many */
  uint64_t may_repeat; /* whether an ancestor may have a field of a name that this type declares, too: an atomic flag */
  int32_t n_types_marked; /* fh_type_count when its descendants were marked so; under the lock */
} fh_type_entry;

/* As fh_type_find. */
fh_type_entry *fh_type_entry_find(int32_t type_index);
/* Under the lock: how many types there are. */
int32_t fh_type_count(void);
/* The writers' lock of the whole registry. */
void fh_type_lock(void);
void fh_type_unlock(void);

#endif /* FH_TYPE_H_ */
