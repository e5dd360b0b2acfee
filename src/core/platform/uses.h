/* uses.h - hazard pointers: each thread publishes the addresses that it is using, in a record that only it writes.
 *
 * A use count in the thing itself would make threads that only read the thing contend for its cache line. Here a thread
 * publishes the address in its own record; a thread that needs exclusive use scans the records of all threads, which
 * costs some microseconds (barrier.h).
 *
 * The protocol has two sides. A user begins a use (sets a hazard pointer), and then reads a word of the thing that says
 * whether it is closed; if it is, the user ends the use and takes another path. The other side writes that word, and
 * then calls fh_uses_look. Either the user sees that the thing is closed, or the other side sees the use.
 *
 * In a child of fork the uses of threads that the child does not have are gone. */
#ifndef FH_USES_H_
#define FH_USES_H_

#include "barrier.h"

enum { FH_USES_MAX = 13 }; /* hazard pointers per thread; with them a record has two cache lines */

typedef struct fh_uses {
  /* Written by the record's thread, read by all. NULL or an address; several may be equal. */
  void *slots[FH_USES_MAX];
  uint32_t n;        /* only for the record's thread: slots from here on are NULL */
  uint32_t is_taken; /* whether the record belongs to a thread */
  struct fh_uses *next; /* next in the list of all records, never changes once the record is in the list */
  /* only for the record's thread: guards of objects that it is inside (core/object/field_guard.h) */
  uint32_t n_guards;
  char apart[4];
} fh_uses;

/* The thread's record; NULL before its first use and when it is ending. */
extern FH_HIDDEN FH_THREAD_LOCAL fh_uses *fh_uses_mine;

/* Makes a record for the thread; NULL without memory, and when the thread is ending. */
fh_uses *fh_uses_make(void);
/* Ends a use that need not be the latest; 0 if the thread has no use of this address. */
int fh_uses_end_any(const void *address);

/* Begins a use. 0 if no slot is free or no record could be made: the caller then has to count the use otherwise. */
static inline int fh_uses_begin(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (FH_UNLIKELY(mine == NULL) && (mine = fh_uses_make()) == NULL) return 0;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == FH_USES_MAX)) return 0;
  mine->n = n + 1;
  /* release: a thread that finds this address later sees the end of the earlier uses */
  fh_atomic_store_release_ptr(&mine->slots[n], (void *)(uintptr_t)address);
  fh_barrier_light(); /* pairs with the barrier of fh_uses_look */
  return 1;
}

/* Ends a use of the calling thread. 0 if the thread has no use of this address. */
static inline int fh_uses_end(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (FH_UNLIKELY(mine == NULL)) return 0;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == 0 || mine->slots[n - 1] != address)) return fh_uses_end_any(address);
  fh_atomic_store_release_ptr(&mine->slots[--n], NULL); /* pairs with fh_uses_find */
  while (n > 0 && FH_UNLIKELY(mine->slots[n - 1] == NULL)) --n;     /* slots that fh_uses_end_any has emptied */
  mine->n = n;
  return 1;
}

/* Begins a use during which the calling thread begins and ends no other: cheaper, because `n` stays the same. Returns
 * its slot, for fh_uses_end_short; NULL if no slot is free or no record could be made. */
static inline void **fh_uses_begin_short(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (FH_UNLIKELY(mine == NULL) && (mine = fh_uses_make()) == NULL) return NULL;
  if (FH_UNLIKELY(mine->n == FH_USES_MAX)) return NULL;
  void **slot = &mine->slots[mine->n];
  fh_atomic_store_release_ptr(slot, (void *)(uintptr_t)address); /* as in fh_uses_begin */
  fh_barrier_light();
  return slot;
}
static inline void fh_uses_end_short(void **slot) {
  fh_atomic_store_release_ptr(slot, NULL); /* pairs with fh_uses_find */
}

/* Whether a thread uses the address, as a hint. */
int fh_uses_find(const void *address);
/* As fh_uses_find, but certain; the caller has marked the thing as closed before. If the answer is 0, the caller sees
 * all writes of the earlier users. */
int fh_uses_look(const void *address);

#endif /* FH_USES_H_ */
