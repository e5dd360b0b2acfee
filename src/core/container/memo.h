/* memo.h - a table from objects, or pairs of objects, to a word: the visited objects and their results.
 *
 * Keys are compared by address, so no foreign code runs. With open addressing most failing lookups read one cache
 * line. */
#ifndef FH_MEMO_H_
#define FH_MEMO_H_

#include "core/object/object.h"

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

#endif /* FH_MEMO_H_ */
