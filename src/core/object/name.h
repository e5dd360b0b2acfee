/* name.h - a table from names to entries that readers search without a lock; entries keep the order of their addition.
 *
 * One writer at a time (the caller's lock). Entries live in the caller's memory and begin with fh_name_entry. A full
 * table gets a new generation of slots, while readers may still search the old one. A table that only grows keeps its
 * old generations (fh_name_reserve); together they are as large as the newest. A table from which names are removed
 * gives an old generation to its writer (fh_name_renew), who waits until no reader is left and frees it; replaced and
 * removed entries are freed in that way, too. */
#ifndef FH_NAME_H_
#define FH_NAME_H_

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
/* Room for one more, so that the next fh_name_put cannot fail. -1 without memory, nothing pending. */
int fh_name_reserve(fh_name_table *table);
/* As fh_name_reserve, for a table from which names are removed: *old becomes the generation that was replaced, or NULL.
 * The caller frees it with fh_mem_free once no reader has it. */
int fh_name_renew(fh_name_table *table, fh_name_slots **old);
/* Adds the entry: NULL, or the former entry of that name, which it has replaced. Room must have been reserved. */
fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry);
/* Removes the entry of that name and returns it; NULL when there is none. A name that is added again is the last
 * one. */
fh_name_entry *fh_name_remove(fh_name_table *table, TVMFFIByteArray name);

/* Iterates over the entries that are there when it begins, in order of first addition; NULL at the end. There are at
 * most walk.n. Lock-free. */
typedef struct {
  const fh_name_slots *slots;
  size_t i, n;
} fh_name_walk;
fh_name_walk fh_name_walk_begin(const fh_name_table *table);
fh_name_entry *fh_name_walk_next(fh_name_walk *walk);

#endif /* FH_NAME_H_ */
