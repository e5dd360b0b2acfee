/* value_table.c - a table from values to numbers: entries in an array, and an index of them with open addressing.
 *
 * Keys are hashed and compared as maps do it, so equal texts are one key; graph_write.c finds by it the nodes that
 * exist already. The slots are 4 bytes each, and the hash is kept in the entry, so the index grows without asking a
 * hook again. At most half of the slots are used, and nothing is ever removed. */
#include "value_table.h"

#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "core/platform/mem.h"

/* FIRST_SHIFT is 64 less the logarithm of FIRST_SLOTS. MAX_SLOTS keeps indices, plus one, within 32 bits. */
#define FIRST_SLOTS 64
#define FIRST_SHIFT 58
#define MAX_SLOTS ((size_t)1 << 32)

/* The slot where the search for a key begins. The hashes of small integers differ in few low bits. The multiplication
 * carries these to the top of the product, and the slot is taken from there. Integers keep the lowest 4 bits of their
 * hash, so that consecutive ones share a cache line: 16 slots of 4 bytes. */
static size_t home_of(const fh_value_table *table, const TVMFFIAny *key, uint64_t hash) {
  const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
  if (key->type_index != kTVMFFIInt) return (size_t)(hash * multiplier >> table->shift);
  return (size_t)((hash >> 4) * multiplier >> (table->shift + 4) << 4 | (hash & 15));
}

static size_t next_slot(const fh_value_table *table, size_t slot) { return (slot + 1) & (table->n_slots - 1); }

/* Enters an entry into the index, which must have a free slot and must not have its key. */
static void put_slot(fh_value_table *table, size_t index) {
  const fh_value_entry *entry = &table->entries[index];
  size_t slot = home_of(table, &entry->key, entry->hash);
  while (table->slots[slot] != 0) slot = next_slot(table, slot);
  table->slots[slot] = (uint32_t)index + 1;
}

/* Makes the index, or one with four times the slots: each growth places all entries anew, so few growths are worth the
 * room. -1 with a MemoryError pending, and nothing has changed. */
static int grow_slots(fh_value_table *table) {
  size_t n_slots = table->n_slots == 0 ? FIRST_SLOTS : table->n_slots * 4;
  uint32_t *slots = n_slots <= MAX_SLOTS ? (uint32_t *)fh_mem_calloc(n_slots, sizeof *slots) : NULL;
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
  fh_value_entry *entries = (fh_value_entry *)fh_mem_realloc(table->entries, room * sizeof *entries);
  if (entries == NULL) return fh_error_raise_no_memory();
  table->entries = entries;
  table->n_room = room;
  return 0;
}

int fh_value_table_find(const fh_value_table *table, const TVMFFIAny *key, uint64_t *hash, int64_t *number) {
  /* The hash is given even where the key is not found, so that adding it does not run the hook again. */
  if (fh_any_hash(key, hash) != 0) return -1;
  if (table->n_slots == 0) return 0;
  for (size_t slot = home_of(table, key, *hash); table->slots[slot] != 0; slot = next_slot(table, slot)) {
    const fh_value_entry *entry = &table->entries[table->slots[slot] - 1];
    int equal;
    if (entry->hash != *hash) continue; /* equality may be a foreign hook, so it is asked last */
    if (fh_any_equal(&entry->key, key, &equal) != 0) return -1;
    if (!equal) continue;
    *number = entry->number;
    return 1;
  }
  return 0;
}

int fh_value_table_add(fh_value_table *table, const TVMFFIAny *key, uint64_t hash, int64_t number) {
  /* Both grow before the entry is written; a growth that succeeded before a failure does no harm. */
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
  memset(table, 0, sizeof *table);
}
