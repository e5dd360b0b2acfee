/* name.h - a table from names to entries that readers search without a lock; entries keep the order of their addition.
 *
 * One writer at a time (the caller's lock). Entries live in the caller's memory and begin with fh_name_entry. A table that
 * is full goes on as a new generation of its slots, while readers may still search the old one. Tables that only grow keep
 * old generations (fh_name_reserve); all of them together are as large as the newest. Who takes names out gets them
 * (fh_name_renew), and lets them go, as well as entries that were replaced or removed, after waiting for the readers of
 * that moment. */
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
  fh_name_slots *slots; /* release store in fh_name_put, acquire load in readers; NULL while empty */
} fh_name_table;

/* The entry of that name, or NULL. Lock-free. */
fh_name_entry *fh_name_find(const fh_name_table *table, TVMFFIByteArray name);
/* Room for one more, so that the next fh_name_put cannot fail. -1 without memory, nothing pending. */
int fh_name_reserve(fh_name_table *table);
/* The same, with room for what was removed given up. A generation that was replaced goes to *old, else NULL: the caller
 * frees it with fh_mem_free once no reader has it. */
int fh_name_renew(fh_name_table *table, fh_name_slots **old);
/* Adds the entry, or puts it in the place of the one with the same name, which it returns (else NULL). Room must have
 * been reserved. */
fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry);
/* Takes the entry of that name out and returns it; NULL when there is none. Added again, the name is the last one. */
fh_name_entry *fh_name_remove(fh_name_table *table, TVMFFIByteArray name);

/* The entries one after another, in order of first addition, as far as they were there when it began. NULL at the
 * end; walk.n is how many there can be. Lock-free. */
typedef struct {
  const fh_name_slots *slots;
  size_t i, n;
} fh_name_walk;
fh_name_walk fh_name_walk_begin(const fh_name_table *table);
fh_name_entry *fh_name_walk_next(fh_name_walk *walk);

#endif /* FH_NAME_H_ */
