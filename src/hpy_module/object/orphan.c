/* The set of orphans: hash tables by address, with open addressing and linear probing. Nothing is taken out but all. */
#include "orphan.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_module/context/drop.h"

typedef struct Table {
  TVMFFIObject **slots; /* NULL: free */
  uint32_t n, n_slots; /* n_slots: 0 or a power of two, at least 2 * n */
} Table;

static Table tables[FH_N_LOCKS_BY_ADDRESS];
FH_LOCKS(locks, FH_N_LOCKS_BY_ADDRESS, "orphans");

static TVMFFIObject **probe(const Table *table, const TVMFFIObject *object) {
  size_t i = (size_t)((uint64_t)(uintptr_t)object >> 4);
  for (;; ++i) {
    TVMFFIObject **slot = &table->slots[i & (table->n_slots - 1)];
    if (*slot == NULL || *slot == object) return slot;
  }
}

static bool grow(Table *table) {
  Table larger = {NULL, table->n, table->n_slots == 0 ? 16 : 2 * table->n_slots};
  larger.slots = calloc(larger.n_slots, sizeof(TVMFFIObject *));
  if (larger.slots == NULL) return false;
  for (uint32_t i = 0; i < table->n_slots; ++i) {
    if (table->slots[i] != NULL) *probe(&larger, table->slots[i]) = table->slots[i];
  }
  free(table->slots);
  *table = larger;
  return true;
}

void fb_orphan_note(TVMFFIObject *object) {
  Table *table = &tables[fh_fork_number_of(object)];
  fh_mutex *lock = fh_fork_lock_of(locks, object);
  fh_mutex_lock(lock);
  if (2 * table->n < table->n_slots || grow(table)) {
    TVMFFIObject **slot = probe(table, object);
    if (*slot == NULL) {
      fb_weak_take(object); /* the caller's reference keeps it alive */
      *slot = object;
      ++table->n;
    }
  }
  fh_mutex_unlock(lock);
}

uint32_t fb_orphan_take(TVMFFIObject ***out) {
  size_t n_room = 0;
  uint32_t n = 0;
  *out = NULL;
  for (size_t i = 0; i < FH_N_LOCKS_BY_ADDRESS; ++i) n_room += fh_atomic_load_relaxed(&tables[i].n);
  TVMFFIObject **all = n_room == 0 ? NULL : malloc(n_room * sizeof(TVMFFIObject *));
  if (all == NULL) return 0;
  for (size_t i = 0; i < FH_N_LOCKS_BY_ADDRESS; ++i) {
    Table *table = &tables[i];
    fh_mutex_lock(&locks[i].lock);
    if (n + table->n <= n_room) {
      for (uint32_t k = 0; k < table->n_slots; ++k) {
        if (table->slots[k] != NULL) all[n++] = table->slots[k];
      }
      free(table->slots);
      *table = (Table){0};
    }
    fh_mutex_unlock(&locks[i].lock);
  }
  *out = all;
  return n;
}
