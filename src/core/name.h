/* name.h - a table from names to entries that readers search without a lock; entries keep their order.
 *
 * One writer at a time (the caller's lock). Entries live in the caller's memory and begin with fh_name_entry. Growing
 * makes a longer copy; the old slots are kept, so a reader that still holds them is safe. Who lets a replaced entry go
 * must first wait for the readers of that moment, which may hold it or an older generation. */
#ifndef FH_NAME_H_
#define FH_NAME_H_

#include "atomic.h"
#include "base.h"

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
/* Adds the entry, or puts it in the place of the one with the same name, which it returns (else NULL). Room must have
 * been reserved. */
fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry);
/* How many entries there are, and the i-th in order of first addition. Lock-free. */
size_t fh_name_count(const fh_name_table *table);
fh_name_entry *fh_name_at(const fh_name_table *table, size_t i);

#endif /* FH_NAME_H_ */
