/* value_table.c - a table from values to numbers: entries in an array, and an index of them with open addressing.
 *
 * Keys are hashed and compared as in maps, so equal strings are one key; graph_write.c uses the table to find existing
 * nodes. The slots are 4 bytes each, and the entry stores the hash, so the index grows without calling a hook again. At
 * most half of the slots are used, and keys are never removed. */
#include "value_table.h"

#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "core/platform/mem.h"

/* FIRST_SHIFT is 64 minus the binary logarithm of FIRST_SLOTS. MAX_SLOTS keeps indices, plus one, within 32 bits. */
#define FIRST_SLOTS 64
#define FIRST_SHIFT 58
#define MAX_SLOTS ((size_t)1 << 32)

/* The slot where the search for a key begins. The hashes of small integers differ in few low bits. The multiplication
 * carries these to the top of the product, which becomes the slot. Integers keep the lowest 4 bits of their hash, so
 * that consecutive ones share a cache line: 16 slots of 4 bytes. */
static size_t home_of(const fh_value_table *table, const TVMFFIAny *key, uint64_t hash) {
  const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
  if (key->type_index != kTVMFFIInt) return (size_t)(hash * multiplier >> table->shift);
  return (size_t)((hash >> 4) * multiplier >> (table->shift + 4) << 4 | (hash & 15));
}

static size_t next_slot(const fh_value_table *table, size_t slot) { return (slot + 1) & (table->n_slots - 1); }

/* Adds an entry to the index, which must have a free slot and must not contain the key. */
static void put_slot(fh_value_table *table, size_t index) {
  const fh_value_entry *entry = &table->entries[index];
  size_t slot = home_of(table, &entry->key, entry->hash);
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
  for (size_t slot = home_of(table, key, *hash); table->slots[slot] != 0; slot = next_slot(table, slot)) {
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
