/* name.h - a hash table from names to entries that readers search without a lock; entries keep their order of
 * insertion.
 *
 * The caller's lock allows one writer at a time. Entries live in the caller's memory and begin with fh_name_entry. A
 * full table gets a new generation of slots, while readers may still search the old one. A table that only grows keeps
 * its old generations (fh_name_reserve); together they are as large as the newest. A table from which names are removed
 * returns an old generation to its writer (fh_name_renew), which waits until no reader is left and frees it; the writer
 * frees replaced and removed entries in that way, too. */
#pragma once

#include "core/platform/atomic.h"
#include "core/platform/base.h"

typedef struct {
  TVMFFIByteArray name; /* owned by the entry's maker, unchanged while the entry is in a table */
  uint64_t hash;        /* written by fh_name_put */
} fh_name_entry;

typedef struct fh_name_slots fh_name_slots;
typedef struct {
  fh_name_slots *slots; /* release store in renew_slots (name.c), acquire load in readers; NULL at first */
} fh_name_table;

/* The entry of that name, or NULL. Lock-free. */
fh_name_entry *fh_name_find(const fh_name_table *table, TVMFFIByteArray name);
/* Makes room for one more entry, so that the next fh_name_put cannot fail. -1 without memory, with no error pending. */
int fh_name_reserve(fh_name_table *table);
/* As fh_name_reserve, for a table from which names are removed: *old becomes the generation that was replaced, or NULL.
 * The caller frees it with fh_mem_free once no reader uses it. */
int fh_name_renew(fh_name_table *table, fh_name_slots **old);
/* Adds the entry: returns NULL, or the former entry of that name, which the new entry has replaced. Room must have been
 * reserved. */
fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry);
/* Removes the entry of that name and returns it; NULL if there is none. A name that is added again goes to the end of
 * the order. */
fh_name_entry *fh_name_remove(fh_name_table *table, TVMFFIByteArray name);

/* Iterates over the entries that exist when the iteration begins, in order of first addition; NULL at the end. There
 * are at most walk.n. Lock-free. */
typedef struct {
  const fh_name_slots *slots;
  size_t i, n;
} fh_name_walk;
fh_name_walk fh_name_walk_begin(const fh_name_table *table);
fh_name_entry *fh_name_walk_next(fh_name_walk *walk);
