/* value_table.c - a table from values to numbers: open addressing over the entries' indices. */
#include "value_table.h"

#include "error.h"
#include "mem.h"

#define FIRST_ROOM 32
#define MAX_ROOM ((size_t)1 << 31)

/* The hash of a small integer is hardly one: the multiplication moves what differs to the top. */
static size_t home_of(const fh_value_table *table, uint64_t hash) {
  return (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> table->shift);
}

static size_t slot_mask(const fh_value_table *table) { return table->n_room * 2 - 1; }

static void put(fh_value_table *table, size_t index) {
  size_t slot = home_of(table, table->entries[index].hash);
  while (table->slots[slot] != 0) slot = (slot + 1) & slot_mask(table);
  table->slots[slot] = (uint32_t)index + 1;
}

static int grow(fh_value_table *table) {
  size_t room = table->n_room == 0 ? FIRST_ROOM : table->n_room * 2;
  uint32_t *slots = room <= MAX_ROOM ? (uint32_t *)fh_mem_calloc(room * 2, sizeof *slots) : NULL;
  if (slots == NULL) return fh_error_raise_no_memory();
  fh_value_entry *entries = (fh_value_entry *)fh_mem_realloc(table->entries, room * sizeof *entries);
  if (entries == NULL) {
    fh_mem_free(slots);
    return fh_error_raise_no_memory();
  }
  fh_mem_free(table->slots);
  table->entries = entries;
  table->slots = slots;
  table->shift = table->n_room == 0 ? 58 : table->shift - 1; /* FIRST_ROOM * 2 slots are 2^6 */
  table->n_room = room;
  for (size_t i = 0; i < table->n_entries; ++i) put(table, i);
  return 0;
}

int fh_value_table_find(const fh_value_table *table, const TVMFFIAny *key, uint64_t *hash, int64_t *number) {
  if (fh_any_hash(key, hash) != 0) return -1;
  if (table->n_room == 0) return 0;
  for (size_t slot = home_of(table, *hash); table->slots[slot] != 0; slot = (slot + 1) & slot_mask(table)) {
    const fh_value_entry *entry = &table->entries[table->slots[slot] - 1];
    int equal;
    if (entry->hash != *hash) continue;
    if (fh_any_equal(&entry->key, key, &equal) != 0) return -1;
    if (!equal) continue;
    *number = entry->number;
    return 1;
  }
  return 0;
}

int fh_value_table_add(fh_value_table *table, const TVMFFIAny *key, uint64_t hash, int64_t number) {
  if (table->n_entries == table->n_room && grow(table) != 0) return -1;
  fh_value_entry *entry = &table->entries[table->n_entries];
  fh_any_copy(key, &entry->key);
  entry->hash = hash;
  entry->number = number;
  put(table, table->n_entries++);
  return 0;
}

void fh_value_table_free(fh_value_table *table) {
  while (table->n_entries != 0) fh_any_drop(&table->entries[--table->n_entries].key);
  fh_mem_free(table->entries);
  fh_mem_free(table->slots);
  memset(table, 0, sizeof *table);
}
