/* memo.h - tables from objects, or from values, to numbers. */
#pragma once

#include "core/object/any.h"
#include "core/object/object.h"

/* --- by address --------------------------------------------------------------------------------------------------- */

/* A table from objects, or pairs of objects, to a word: the visited objects and their results.
 *
 * Keys are compared by address, so no foreign code runs. With open addressing most failing lookups read one cache
 * line. */

typedef struct {
  const void *a; /* NULL in a free slot */
  const void *b; /* NULL for a key of one object */
  uint64_t word;
} fh_memo_entry;

/* All zero is an empty memo. */
typedef struct {
  fh_memo_entry *entries;
  size_t n_slots; /* 0 or a power of two */
  size_t n_used;
  int retains; /* set before the first entry: the memo holds a reference to the objects of its keys, so that another
                * object never gets the address of a key. Erasing is not allowed then. */
} fh_memo;

/* The entry's word, borrowed and valid until the next change; NULL if there is none. */
uint64_t *fh_memo_find(const fh_memo *memo, const void *a, const void *b);
/* Adds an entry, or changes an existing one. -1 with a MemoryError pending. */
int fh_memo_put(fh_memo *memo, const void *a, const void *b, uint64_t word);
/* Does nothing if the entry does not exist. */
void fh_memo_erase(fh_memo *memo, const void *a, const void *b);
/* Drops the entries whose word is `limit` or more. On -1 a MemoryError is pending and nothing has changed. */
int fh_memo_keep_below(fh_memo *memo, uint64_t limit);
/* Frees the memo and leaves an empty one. With `retains` it may run foreign code. */
void fh_memo_free(fh_memo *memo);

/* --- by value ----------------------------------------------------------------------------------------------------- */

/* A table from values to numbers, which compares values as maps compare keys. Grows only. */

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
