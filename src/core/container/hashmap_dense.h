/* hashmap_dense.h - the dense layout of hashmap.h: hashing, chains, growth. For hashmap.c only.
 *
 * These functions work on the fields of a table from `data` on and never read the object header. */
#ifndef FH_HASHMAP_DENSE_H_
#define FH_HASHMAP_DENSE_H_

#include "hashmap_layout.h"

/* Makes an empty table for n_pairs. -1 without memory, with no error pending and the table unchanged. */
int fh_hashmap_dense_init(fh_hashmap_object *map, uint64_t n_pairs);
/* Copies the bytes of another table without touching references. -1 as above. */
int fh_hashmap_dense_copy(const fh_hashmap_object *from, fh_hashmap_object *map);
/* Makes the table empty without touching references. */
void fh_hashmap_dense_forget(fh_hashmap_object *map);

/* As the functions of hashmap.h, but fh_hashmap_dense_find returns the slot, fh_hashmap_dense_set writes only the parts
 * of *rest that it needs, and *old is undefined unless the result is 1. The table is valid for every result. */
int fh_hashmap_dense_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *slot);
int fh_hashmap_dense_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks,
                         fh_hashmap_rest *rest);
int fh_hashmap_dense_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old);

/* Whether that slot holds an item; any number is allowed. */
bool fh_hashmap_dense_is_used(const fh_hashmap_object *map, uint64_t slot);
#ifdef FH_TEST
int fh_hashmap_dense_is_valid(const fh_hashmap_object *map);
#endif

#endif /* FH_HASHMAP_DENSE_H_ */
