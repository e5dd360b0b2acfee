/* shared.h - a reader-biased lock: readers enter without writing memory that other threads read.
 *
 * A lock that is mostly read is open: a reader stores the lock's address in a hazard pointer (hazard.h), sees that the
 * lock is open, and reads. A writer takes the mutex, closes the lock, and waits until no reader is inside. Closing
 * takes microseconds, so a lock stays closed until it was read FH_SHARED_READS times without a writer in between; until
 * then readers take the mutex.
 *
 * Readers are as short as holders of the mutex, and operations that are not allowed under a mutex (sync.h) are not
 * allowed in readers. */
#ifndef FH_SHARED_H_
#define FH_SHARED_H_

#include "fork.h"
#include "hazard.h"

enum { FH_SHARED_READS = 256 };

/* A lock whose bytes are all 0 is free and closed. */
typedef struct {
  fh_mutex lock;
  int32_t is_open;  /* written under the mutex */
  uint32_t n_reads; /* since the last writer; under the mutex */
} fh_shared;

/* static fh_shared_apart id[n] of a rank, each on its own cache line. */
typedef struct {
  fh_shared lock;
  char apart[64 - sizeof(fh_shared)];
} fh_shared_apart;
#define FH_SHARED_LOCKS_OF_RANK(id, n, name, rank) \
  static fh_shared_apart id[n];                    \
  FH_FORK_LOCKS(id, name, &id->lock.lock, n, sizeof(fh_shared_apart), rank)
#define FH_SHARED_LOCKS(id, n, name) FH_SHARED_LOCKS_OF_RANK(id, n, name, FH_RANK_PLAIN)

/* The lock for the thing at an address, in an array of FH_N_LOCKS_BY_ADDRESS. */
static inline fh_shared *fh_shared_of(fh_shared_apart *locks, const void *address) {
  return &locks[fh_fork_number_of(address)].lock;
}

/* Takes the mutex for a reader that found the lock closed. */
void fh_shared_read_closed(fh_shared *lock);
/* The two operations after the mutex is taken, for a caller that has it. A reader counts itself; a writer closes the
 * lock. Without `may_wait` the result is 0 if other threads still read: then the lock is open as before. */
void fh_shared_count_read(fh_shared *lock);
bool fh_shared_close(fh_shared *lock, bool may_wait);

/* Begins to read. The result is for fh_shared_read_end: the thread's hazard pointer, or NULL if the reader has the
 * mutex. */
typedef void **fh_shared_note;
static inline fh_shared_note fh_shared_read(fh_shared *lock) {
  fh_shared_note note;
  /* relaxed: a hint, which saves a hazard pointer */
  if (FH_LIKELY(fh_atomic_load_relaxed_i32(&lock->is_open)) &&
      FH_LIKELY((note = fh_hazard_begin_short(lock)) != NULL)) {
    /* acquire: pairs with fh_shared_count_read, which follows the earlier writers */
    if (FH_LIKELY(fh_atomic_load_acquire_i32(&lock->is_open))) {
      fh_sync_count_section(1);
      return note;
    }
    fh_hazard_end_short(note);
  }
  fh_shared_read_closed(lock);
  return NULL;
}
static inline void fh_shared_read_end(fh_shared *lock, fh_shared_note note) {
  if (FH_UNLIKELY(note == NULL)) {
    fh_mutex_unlock(&lock->lock);
  } else {
    fh_sync_count_section(-1);
    fh_hazard_end_short(note); /* pairs with fh_shared_close */
  }
}

static inline void fh_shared_write(fh_shared *lock) {
  fh_mutex_lock(&lock->lock);
  lock->n_reads = 0;
  /* relaxed: written under the mutex only */
  if (FH_UNLIKELY(fh_atomic_load_relaxed_i32(&lock->is_open))) (void)fh_shared_close(lock, 1);
}
static inline void fh_shared_write_end(fh_shared *lock) { fh_mutex_unlock(&lock->lock); }

#endif /* FH_SHARED_H_ */
