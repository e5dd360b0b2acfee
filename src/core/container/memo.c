/* memo.c - a table from objects, or pairs of objects, to a word: open addressing with linear probing.
 *
 * Entries lie in one array, an empty slot ends every search, and at most 5/8 of the slots are used, so a lookup takes
 * O(1) on average. Walks store their open objects in it (walk.h); copying, hashing, comparing and mutating store their
 * earlier results. */
#include "memo.h"

#include "core/object/error.h"
#include "core/platform/mem.h"

#define MIN_SLOTS 16

/* The slot where the search for a key begins. Addresses differ mostly in their middle bits. The multiplication carries
 * these into the upper half of the product, and the slot is taken from there. `b` has another multiplier, so that (a,
 * b) and (b, a) hash differently. */
static size_t home_of(const fh_memo *memo, const void *a, const void *b) {
  uint64_t key = (uint64_t)(uintptr_t)a + (uint64_t)(uintptr_t)b * 0xd6e8feb86659fd93u;
  uint64_t mixed = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
  return (size_t)(mixed >> 32) & (memo->n_slots - 1);
}

/* The slot that holds the key, or the free slot for the key. There is always a free slot (reserve_slot), so the loop
 * ends. The table must have slots. */
static size_t slot_of(const fh_memo *memo, const void *a, const void *b) {
  size_t slot = home_of(memo, a, b);
  while (memo->entries[slot].a != NULL && (memo->entries[slot].a != a || memo->entries[slot].b != b)) {
    slot = (slot + 1) & (memo->n_slots - 1);
  }
  return slot;
}

uint64_t *fh_memo_find(const fh_memo *memo, const void *a, const void *b) {
  if (memo->n_used == 0) return NULL;
  fh_memo_entry *entry = &memo->entries[slot_of(memo, a, b)];
  return entry->a != NULL ? &entry->word : NULL;
}

/* Makes room for one more entry in a table that is at most 5/8 full. A table grows to four times its slots, because
 * each growth inserts all entries again. -1 with a MemoryError pending and the table unchanged. */
static int reserve_slot(fh_memo *memo) {
  if ((memo->n_used + 1) * 8 <= memo->n_slots * 5) return 0;
  fh_memo bigger = *memo;
  bigger.n_slots = memo->n_slots < MIN_SLOTS ? MIN_SLOTS : memo->n_slots * 4;
  bigger.entries = (fh_memo_entry *)fh_mem_calloc(bigger.n_slots, sizeof(*bigger.entries));
  if (bigger.entries == NULL) return fh_error_raise_no_memory();
  for (size_t i = 0; i < memo->n_slots; ++i) {
    const fh_memo_entry *entry = &memo->entries[i];
    if (entry->a != NULL) bigger.entries[slot_of(&bigger, entry->a, entry->b)] = *entry;
  }
  fh_mem_free(memo->entries);
  *memo = bigger;
  return 0;
}

int fh_memo_put(fh_memo *memo, const void *a, const void *b, uint64_t word) {
  if (reserve_slot(memo) != 0) return -1;
  fh_memo_entry *entry = &memo->entries[slot_of(memo, a, b)];
  /* The word is written first: for an existing key it is the only change. The room that was reserved then stays for
   * later. */
  entry->word = word;
  if (entry->a != NULL) return 0;
  entry->a = a;
  entry->b = b;
  memo->n_used += 1;
  if (memo->retains) {
    /* The keys are const because the table never reads the objects; changing their reference counts does not matter. */
    fh_object_retain((void *)(uintptr_t)a);
    if (b != NULL) fh_object_retain((void *)(uintptr_t)b);
  }
  return 0;
}

/* Entries after the hole move into it unless their home slot is after the hole. So the table needs no marks for erased
 * entries, which would make lookups longer with time. */
void fh_memo_erase(fh_memo *memo, const void *a, const void *b) {
  if (memo->n_used == 0) return;
  size_t mask = memo->n_slots - 1, hole = slot_of(memo, a, b);
  if (memo->entries[hole].a == NULL) return;
  memo->n_used -= 1;
  for (size_t slot = (hole + 1) & mask; memo->entries[slot].a != NULL; slot = (slot + 1) & mask) {
    size_t home = home_of(memo, memo->entries[slot].a, memo->entries[slot].b);
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue; /* its home is after the hole */
    memo->entries[hole] = memo->entries[slot];
    hole = slot;
  }
  memo->entries[hole].a = NULL;
}

int fh_memo_keep_below(fh_memo *memo, uint64_t limit) {
  /* The remaining entries go into a new table: erasing is not allowed if the memo retains its keys. The new table
   * counts its own references before the old one drops its references. */
  fh_memo kept = {NULL, 0, 0, memo->retains};
  for (size_t i = 0; i < memo->n_slots; ++i) {
    const fh_memo_entry *entry = &memo->entries[i];
    if (entry->a == NULL || entry->word >= limit) continue;
    if (fh_memo_put(&kept, entry->a, entry->b, entry->word) != 0) {
      fh_memo_free(&kept);
      return -1;
    }
  }
  fh_memo_free(memo);
  *memo = kept;
  return 0;
}

void fh_memo_free(fh_memo *memo) {
  /* The memo is empty before the first release, which may run foreign code. */
  fh_memo old = *memo;
  memo->entries = NULL;
  memo->n_slots = memo->n_used = 0;
  for (size_t i = 0; old.retains && i < old.n_slots; ++i) {
    if (old.entries[i].a == NULL) continue;
    fh_object_release((void *)(uintptr_t)old.entries[i].a);
    fh_object_release((void *)(uintptr_t)old.entries[i].b);
  }
  fh_mem_free(old.entries);
}
