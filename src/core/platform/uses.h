/* uses.h - what each thread is using at the moment, by address, written where no other thread writes.
 *
 * Counting uses in the thing itself makes threads that only read it take its cache line from one another. Here a thread
 * notes the address in a record of its own; who wants nobody to use the thing looks into the records of all threads,
 * which costs some microseconds (barrier.h).
 *
 * The protocol has two sides. A user begins a use, and then reads a word of the thing that says whether it is closed;
 * if it is, the user ends the use and does otherwise. The other side writes that word, and then calls fh_uses_look.
 * Either the user sees that the thing is closed, or the other side sees the use.
 *
 * In a child of fork the uses of threads that the child does not have are gone. */
#ifndef FH_USES_H_
#define FH_USES_H_

#include "barrier.h"

enum { FH_USES_MAX = 13 }; /* so many at a time are noted for a thread; with them a record has two cache lines */

typedef struct fh_uses {
  /* Written by the record's thread, read by all. NULL or an address; several may be the same. */
  void *slots[FH_USES_MAX];
  uint32_t n;        /* its thread's own: slots from here on are NULL */
  uint32_t is_taken; /* whether a thread has it */
  struct fh_uses *next; /* of all, never changes once it is in the list */
  uint32_t n_guards;    /* its thread's own: guards of objects that it is inside (core/object/field_guard.h) */
  char apart[4];
} fh_uses;

/* The thread's record; NULL before its first use and when it is ending. */
extern FH_HIDDEN FH_THREAD_LOCAL fh_uses *fh_uses_mine;

/* Gives the thread a record; NULL without memory, and when the thread is ending. */
fh_uses *fh_uses_make(void);
/* Ends a use that need not be the last one; 0 if the thread has none of this address. */
int fh_uses_end_any(const void *address);

/* Begins a use. 0 if it could not be noted: the caller has to count it otherwise. */
static inline int fh_uses_begin(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (FH_UNLIKELY(mine == NULL) && (mine = fh_uses_make()) == NULL) return 0;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == FH_USES_MAX)) return 0;
  mine->n = n + 1;
  /* release: who finds an address that is noted later has seen the end of the uses before */
  fh_atomic_store_release_ptr(&mine->slots[n], (void *)(uintptr_t)address);
  fh_barrier_light(); /* pairs with that of fh_uses_look */
  return 1;
}

/* Ends a use of the calling thread. 0 if none of this address is noted. */
static inline int fh_uses_end(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (FH_UNLIKELY(mine == NULL)) return 0;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == 0 || mine->slots[n - 1] != address)) return fh_uses_end_any(address);
  fh_atomic_store_release_ptr(&mine->slots[--n], NULL); /* pairs with fh_uses_find */
  while (n > 0 && FH_UNLIKELY(mine->slots[n - 1] == NULL)) --n;     /* those that fh_uses_end_any has ended */
  mine->n = n;
  return 1;
}

/* A use during which the calling thread begins and ends no other: cheaper, because it is not counted. Its slot, for
 * fh_uses_end_short; NULL if it could not be noted. */
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
/* As fh_uses_find, but for certain, once the caller has written that the thing is closed. What the users of before did
 * is seen if the answer is 0. */
int fh_uses_look(const void *address);

#endif /* FH_USES_H_ */
