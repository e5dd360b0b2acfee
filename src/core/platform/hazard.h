/* hazard.h - hazard pointers, and the asymmetric barrier below them.
 *
 * The barrier orders a store before a load, and moves its cost to the rare side. Two threads each write a word and then
 * read the other's word. At least one of them sees the other's write if one calls fh_barrier_light and the other calls
 * fh_barrier_heavy between its store and its load. If the system can make all running threads of the process pass a
 * barrier (Linux: membarrier; Windows: FlushProcessWriteBuffers), the light barrier costs nothing, and the heavy one
 * costs a system call of some microseconds. Elsewhere both are full fences. */
#pragma once

#include "atomic.h"
#include "fork.h"

/* 1: the light barrier costs nothing. 0: both are fences. FH_BARRIER_CHANGES: both are fences, but a light barrier may
 * have begun while it cost nothing. Written when the library is loaded, and (relaxed) if the system later refuses the
 * call that it allowed then. */
extern FH_HIDDEN int32_t fh_barrier_is_one_sided;
enum { FH_BARRIER_CHANGES = -1 };

static inline void fh_barrier_light(void) {
  /* relaxed: fh_barrier_heavy waits after it has changed this word */
  if (FH_LIKELY(fh_atomic_load_relaxed_i32(&fh_barrier_is_one_sided) > 0)) {
    fh_atomic_fence_compiler();
  } else {
    fh_atomic_fence_seq_cst();
  }
}

void fh_barrier_heavy(void);

/* --- hazard pointers --------------------------------------------------------------------------------------------- */

/* Hazard pointers: each thread publishes the addresses that it is using, in a record that only it writes.
 *
 * A use count in the item itself would make threads that only read the item contend for its cache line. Here a thread
 * publishes the address in its own record; a thread that needs exclusive use scans the records of all threads, which
 * costs some microseconds.
 *
 * The protocol has two sides. A user begins a use (sets a hazard pointer), and then reads the word of the item that
 * marks it as closed; if the item is closed, the user ends the use and takes another path. The other side writes that
 * word, and then calls fh_hazard_look. Either the user sees that the item is closed, or the other side sees the use.
 *
 * In a child of fork the uses of threads that the child does not have are gone. */

enum { FH_HAZARD_MAX = 13 }; /* hazard pointers per thread; with them a record has two cache lines */

typedef struct fh_hazard_record {
  /* Written by the record's thread, read by all. NULL or an address; several may be equal. */
  void *slots[FH_HAZARD_MAX];
  uint32_t n;        /* only for the record's thread: slots from here on are NULL */
  uint32_t is_taken; /* whether the record belongs to a thread */
  struct fh_hazard_record *next; /* next in the list of all records, never changes once the record is in the list */
  /* only for the record's thread: guards of objects that it is inside (core/object/field_guard.h) */
  uint32_t n_guards;
  char apart[4];
} fh_hazard_record;

/* The thread's record; NULL before its first use and when it is ending. */
extern FH_HIDDEN FH_THREAD_LOCAL fh_hazard_record *fh_hazard_mine;

/* Makes a record for the thread; NULL without memory, and when the thread is ending. */
fh_hazard_record *fh_hazard_make(void);
/* Calls a function for each address that a thread uses now. */
void fh_hazard_each(void (*each)(void *arg, const void *address), void *arg);
/* Ends a use that need not be the latest; 0 if the thread has no use of this address. */
bool fh_hazard_end_any(const void *address);

/* Begins a use. 0 if no slot is free or no record could be made: the caller then has to count the use otherwise. */
static inline bool fh_hazard_begin(const void *address) {
  fh_hazard_record *mine = fh_hazard_mine;
  if (FH_UNLIKELY(mine == NULL) && (mine = fh_hazard_make()) == NULL) return false;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == FH_HAZARD_MAX)) return false;
  mine->n = n + 1;
  /* release: a thread that finds this address later sees the end of the earlier uses */
  fh_atomic_store_release_ptr(&mine->slots[n], (void *)(uintptr_t)address);
  fh_barrier_light(); /* pairs with the barrier of fh_hazard_look */
  return true;
}

/* Ends a use of the calling thread. 0 if the thread has no use of this address. */
static inline bool fh_hazard_end(const void *address) {
  fh_hazard_record *mine = fh_hazard_mine;
  if (FH_UNLIKELY(mine == NULL)) return false;
  uint32_t n = mine->n;
  if (FH_UNLIKELY(n == 0 || mine->slots[n - 1] != address)) return fh_hazard_end_any(address);
  fh_atomic_store_release_ptr(&mine->slots[--n], NULL); /* pairs with fh_hazard_find */
  while (n > 0 && FH_UNLIKELY(mine->slots[n - 1] == NULL)) --n;     /* slots that fh_hazard_end_any has emptied */
  mine->n = n;
  return true;
}

/* Begins a use during which the calling thread begins and ends no other: cheaper, because `n` stays the same. Returns
 * its slot, for fh_hazard_end_short; NULL if no slot is free or no record could be made. */
static inline void **fh_hazard_begin_short(const void *address) {
  fh_hazard_record *mine = fh_hazard_mine;
  if (FH_UNLIKELY(mine == NULL) && (mine = fh_hazard_make()) == NULL) return NULL;
  if (FH_UNLIKELY(mine->n == FH_HAZARD_MAX)) return NULL;
  void **slot = &mine->slots[mine->n];
  fh_atomic_store_release_ptr(slot, (void *)(uintptr_t)address); /* as in fh_hazard_begin */
  fh_barrier_light();
  return slot;
}
static inline void fh_hazard_end_short(void **slot) {
  fh_atomic_store_release_ptr(slot, NULL); /* pairs with fh_hazard_find */
}

/* Whether a thread uses the address, as a hint. */
bool fh_hazard_find(const void *address);
/* As fh_hazard_find, but certain; the caller has marked the item as closed before. If the answer is 0, the caller sees
 * all writes of the earlier users. */
bool fh_hazard_look(const void *address);

/* --- reader-biased locks ------------------------------------------------------------------------------------------ */

/* A reader-biased lock: readers enter without writing memory that other threads read.
 *
 * A lock that is mostly read is open: a reader stores the lock's address in a hazard pointer (hazard.h), sees that the
 * lock is open, and reads. A writer takes the mutex, closes the lock, and waits until no reader is inside. Closing
 * takes microseconds, so a lock stays closed until it was read FH_SHARED_READS times without a writer in between; until
 * then readers take the mutex.
 *
 * Readers are as short as holders of the mutex, and operations that are not allowed under a mutex (sync.h) are not
 * allowed in readers. */

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

/* The lock for an item at an address, in an array of FH_N_LOCKS_BY_ADDRESS. */
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
