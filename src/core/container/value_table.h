/* value_table.h - a table from values to numbers, which compares values as maps compare keys. Grows only. */
#ifndef FH_VALUE_TABLE_H_
#define FH_VALUE_TABLE_H_

#include "core/object/any.h"

typedef struct {
  TVMFFIAny key; /* owned */
  uint64_t hash;
  int64_t number;
} fh_value_entry;

/* All zero is an empty table. */
typedef struct {
  fh_value_entry *entries; /* in order of addition */
  size_t n_entries, n_room;
  uint32_t *slots; /* index into entries, plus one; 0 is free */
  size_t n_slots;  /* 0 or a power of two, at least twice as many as entries */
  int shift;       /* 64 minus the binary logarithm of n_slots */
} fh_value_table;

/* 1 with the key's number, 0 if the key does not exist, -1 if a hook fails; *hash is for fh_value_table_add. Hooks are
 * foreign code and must not change the table. */
int fh_value_table_find(const fh_value_table *table, const TVMFFIAny *key, uint64_t *hash, int64_t *number);
/* Adds a new key, with its own reference. -1 with a MemoryError pending. */
int fh_value_table_add(fh_value_table *table, const TVMFFIAny *key, uint64_t hash, int64_t number);
/* Runs foreign code: deleters. */
void fh_value_table_free(fh_value_table *table);

#endif /* FH_VALUE_TABLE_H_ */
