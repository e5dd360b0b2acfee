/* type.h - the type registry: key to index, index to entry, ancestry.
 *
 * Entries are complete before they are published, never change their identity part, never move and are never freed.
 * Writers hold fh_type_lock; readers hold nothing. */
#pragma once

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "name.h"

/* The entry of an index, NULL if no type has the index. Any int is allowed. Lock-free. */
const TVMFFITypeInfo *fh_type_find(int32_t type_index);
/* The index of a key, -1 when unknown; no error pending. Lock-free. */
int32_t fh_type_find_key(TVMFFIByteArray type_key);
/* The type key, or "<unknown type>": for messages, NUL-terminated, never NULL. */
const char *fh_type_name(int32_t type_index);
/* A type's metadata; NULL while it has none. Another thread may register it at the same time, so only this function
 * reads info->metadata. */
static inline const TVMFFITypeMetadata *fh_type_metadata(const TVMFFITypeInfo *info) {
  /* acquire: pairs with the release store in TVMFFITypeRegisterMetadata */
  return (const TVMFFITypeMetadata *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&info->metadata);
}
/* One past the highest index that a type has or that is reserved for descendants, for loops over all types.
 * fh_type_find returns NULL for indices without a type. */
int32_t fh_type_end(void);

/* Whether objects of `type_index` are instances of `ancestor` (or it itself). Unknown indices are instances of
 * nothing. Lock-free. */
bool fh_type_is_instance(int32_t type_index, int32_t ancestor);

/* Implements TVMFFITypeGetOrAllocIndex: returns the index of the type and registers it if necessary; -2 for an unknown
 * key if parent_index is -2, which only looks up; -1 with an error pending. */
int32_t fh_type_add(TVMFFIByteArray type_key, int32_t static_index, int32_t depth, int32_t n_child_slots,
                    bool can_overflow, int32_t parent_index);

/* Registers the static types; for the load-time constructor. */
void fh_type_init(void);

/* ---- For reflect.c, which owns the reflection part of an entry ---- */

typedef struct {
  fh_name_entry by_key;  /* first: the key table returns a pointer to it */
  /* the struct that clients see; fields, methods and metadata change under the lock, see reflect.h */
  TVMFFITypeInfo info;
  TVMFFITypeMetadata metadata; /* the target of info.metadata, written once */
  /* number of indices for the type and its descendants, from its own index on; fixed before publication */
  int32_t n_slots;
  int32_t n_slots_used;  /* number of these that are in use or reserved by children; under the lock */
  bool can_overflow;
  int32_t has_guarded_field; /* whether fh_field_guard_is_for is true for one of its own fields; set under the lock */
  int32_t n_children; /* number of types that derive directly from it; under the lock */
  /* For reflect.c. */
  fh_name_table fields_by_name, methods_by_name; /* only for types with many members */
  uint64_t may_repeat; /* whether an ancestor may have a field with the name of a field of this type: an atomic flag */
  int32_t n_types_marked; /* fh_type_count when may_repeat of its descendants was set; under the lock */
} fh_type_entry;

/* As fh_type_find. */
fh_type_entry *fh_type_entry_find(int32_t type_index);
/* The number of types; the caller holds the lock. */
int32_t fh_type_count(void);
/* The lock of all writers of the registry. */
void fh_type_lock(void);
void fh_type_unlock(void);
