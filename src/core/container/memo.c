/* memo.c - tables from objects, or from values, to numbers. */
#include "memo.h"

#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "core/platform/mem.h"

/* --- by address --------------------------------------------------------------------------------------------------- */

/* A table from objects, or pairs of objects, to a word: open addressing with linear probing.
 *
 * Entries lie in one array, an empty slot ends every search, and at most 5/8 of the slots are used, so a lookup takes
 * O(1) on average. Walks store their open objects in it (walk.h); copying, hashing, comparing and mutating store their
 * earlier results. */

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

/* --- by value ----------------------------------------------------------------------------------------------------- */

/* A table from values to numbers: entries in an array, and an index of them with open addressing.
 *
 * Keys are hashed and compared as in maps, so equal strings are one key; graph_write.c uses the table to find existing
 * nodes. The slots are 4 bytes each, and the entry stores the hash, so the index grows without calling a hook again. At
 * most half of the slots are used, and keys are never removed. */

/* FIRST_SHIFT is 64 minus the binary logarithm of FIRST_SLOTS. MAX_SLOTS keeps indices, plus one, within 32 bits. */
#define FIRST_SLOTS 64
#define FIRST_SHIFT 58
#define MAX_SLOTS ((size_t)1 << 32)

/* The slot where the search for a key begins. The hashes of small integers differ in few low bits. The multiplication
 * carries these to the top of the product, which becomes the slot. Integers keep the lowest 4 bits of their hash, so
 * that consecutive ones share a cache line: 16 slots of 4 bytes. */
static size_t index_of(const fh_value_table *table, const TVMFFIAny *key, uint64_t hash) {
  const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
  if (key->type_index != kTVMFFIInt) return (size_t)(hash * multiplier >> table->shift);
  return (size_t)((hash >> 4) * multiplier >> (table->shift + 4) << 4 | (hash & 15));
}

static size_t next_slot(const fh_value_table *table, size_t slot) { return (slot + 1) & (table->n_slots - 1); }

/* Adds an entry to the index, which must have a free slot and must not contain the key. */
static void put_slot(fh_value_table *table, size_t index) {
  const fh_value_entry *entry = &table->entries[index];
  size_t slot = index_of(table, &entry->key, entry->hash);
  while (table->slots[slot] != 0) slot = next_slot(table, slot);
  table->slots[slot] = (uint32_t)index + 1;
}

/* Makes the index, or an index with four times the slots: each growth inserts all entries again, so few growths are
 * worth the room. -1 with a MemoryError pending and the table unchanged. */
static int grow_slots(fh_value_table *table) {
  size_t n_slots = table->n_slots == 0 ? FIRST_SLOTS : table->n_slots * 4;
  uint32_t *slots = n_slots <= MAX_SLOTS ? (uint32_t *)fh_mem_calloc(n_slots, sizeof(*slots)) : NULL;
  if (slots == NULL) return fh_error_raise_no_memory();
  fh_mem_free(table->slots);
  table->slots = slots;
  table->shift = table->n_slots == 0 ? FIRST_SHIFT : table->shift - 2;
  table->n_slots = n_slots;
  for (size_t i = 0; i < table->n_entries; ++i) put_slot(table, i);
  return 0;
}

/* Makes room for half as many entries again. An entry has 32 bytes, so unused room costs more here than in the index,
 * and a growth only copies. */
static int grow_entries(fh_value_table *table) {
  size_t room = table->n_room + table->n_room / 2 + FIRST_SLOTS / 2;
  fh_value_entry *entries = (fh_value_entry *)fh_mem_realloc(table->entries, room * sizeof(*entries));
  if (entries == NULL) return fh_error_raise_no_memory();
  table->entries = entries;
  table->n_room = room;
  return 0;
}

int fh_value_table_find(const fh_value_table *table, const TVMFFIAny *key, uint64_t *hash, int64_t *number) {
  /* *hash is set even if the key is not found, so that adding the key does not run the hook again. */
  if (fh_any_hash(key, hash) != 0) return -1;
  if (table->n_slots == 0) return 0;
  for (size_t slot = index_of(table, key, *hash); table->slots[slot] != 0; slot = next_slot(table, slot)) {
    const fh_value_entry *entry = &table->entries[table->slots[slot] - 1];
    int equal;
    if (entry->hash != *hash) continue; /* equality may run a foreign hook, so it comes last */
    if (fh_any_equal(&entry->key, key, &equal) != 0) return -1;
    if (!equal) continue;
    *number = entry->number;
    return 1;
  }
  return 0;
}

int fh_value_table_add(fh_value_table *table, const TVMFFIAny *key, uint64_t hash, int64_t number) {
  /* Both grow before the entry is written; if only the second growth fails, the table is still valid. */
  if (table->n_entries * 2 == table->n_slots && grow_slots(table) != 0) return -1;
  if (table->n_entries == table->n_room && grow_entries(table) != 0) return -1;
  fh_value_entry *entry = &table->entries[table->n_entries];
  fh_any_copy(key, &entry->key);
  entry->hash = hash;
  entry->number = number;
  put_slot(table, table->n_entries++);
  return 0;
}

void fh_value_table_free(fh_value_table *table) {
  while (table->n_entries != 0) fh_any_drop(&table->entries[--table->n_entries].key);
  fh_mem_free(table->entries);
  fh_mem_free(table->slots);
  memset(table, 0, sizeof(*table));
}
