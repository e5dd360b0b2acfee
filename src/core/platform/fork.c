/* fork.c - the handlers of fork(), for everything that fork.h has declared in this binary.
 *
 * before_fork runs in the thread that forks, give_all afterwards in the parent, in_child in the child. The lists that
 * they go through are made by the linker, out of the pointers that the declarations have left in two sections. */
#include "fork.h"

#ifdef FH_TEST
#include <stdio.h>
#include <stdlib.h>
#endif

#if !defined(_WIN32)

/* The entries. The linker defines symbols where a section begins and ends. In ELF they are weak, because the section
 * does not exist in a binary without such entries; then both are NULL and the loops below do nothing. They are hidden,
 * so that each binary finds its own sections and not those of a binary that was loaded before it. */
#if defined(__APPLE__)
extern fh_fork_locks *first_locks[] __asm("section$start$__DATA$fh_fork_locks");
extern fh_fork_locks *end_of_locks[] __asm("section$end$__DATA$fh_fork_locks");
extern fh_fork_child first_child[] __asm("section$start$__DATA$fh_fork_child");
extern fh_fork_child end_of_children[] __asm("section$end$__DATA$fh_fork_child");
#else
#define FH_OF_LINKER __attribute__((weak, visibility("hidden")))
extern fh_fork_locks *first_locks[] __asm("__start_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_locks *end_of_locks[] __asm("__stop_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_child first_child[] __asm("__start_fh_fork_child") FH_OF_LINKER;
extern fh_fork_child end_of_children[] __asm("__stop_fh_fork_child") FH_OF_LINKER;
#endif

static fh_mutex *lock_at(const fh_fork_locks *locks, size_t i) {
  return (fh_mutex *)(void *)((char *)locks->first + i * locks->n_stride);
}

/* By rank, as any thread does that holds two locks: so this thread never waits for a lock whose holder waits for one of
 * its own. Within a rank the order of the declarations will do: only threads that fork hold two locks of one rank, and
 * all of them take these in that order. The test build's checks would refuse that: hence fh_mutex_take, which does not
 * ask them, and not fh_mutex_lock. */
static void take_all(void) {
  for (int rank = 0; rank < FH_N_RANKS; ++rank) {
    for (fh_fork_locks **each = first_locks; each < end_of_locks; ++each) {
      if ((*each)->rank != (fh_rank)rank) continue;
      for (size_t i = 0; i < (*each)->n; ++i) fh_mutex_take(lock_at(*each, i));
    }
  }
}

/* In any order: giving a lock back waits for nobody. */
static void give_all(void) {
  for (fh_fork_locks **each = first_locks; each < end_of_locks; ++each) {
    for (size_t i = 0; i < (*each)->n; ++i) fh_mutex_give(lock_at(*each, i));
  }
}

static void before_fork(void) {
  fh_sync_check_unlocked("fork"); /* with a lock held, take_all would wait for its own thread */
  take_all();
}

/* A lock of macOS knows its thread by a port, which in the child is another one: giving it back would end the process,
 * so it is made anew. Never run. */
static void free_all_in_child(void) {
#if defined(__APPLE__)
  for (fh_fork_locks **each = first_locks; each < end_of_locks; ++each) {
    for (size_t i = 0; i < (*each)->n; ++i) lock_at(*each, i)->lock = OS_UNFAIR_LOCK_INIT;
  }
#else
  give_all();
#endif
}

/* The functions of FH_FORK_CHILD come before the locks are free, because some change what a lock guards. */
static void in_child(void) {
  for (fh_fork_child *each = first_child; each < end_of_children; ++each) (*each)();
  free_all_in_child();
}

/* pthread_atfork fails without memory; then forks go on without the handlers. */
FH_CONSTRUCTOR(fh_fork_load) { (void)pthread_atfork(before_fork, give_all, in_child); }

/* ---- The test build's checks ---- */
#ifdef FH_TEST
FH_THREAD_LOCAL int fh_sync_n_held; /* locks, and sections counted by fh_sync_count_section */
static FH_THREAD_LOCAL int n_held_of[FH_N_RANKS]; /* locks only, by rank */

void fh_sync_fail_locked(const char *what) {
  fprintf(stderr, "%s runs while this thread holds %d lock(s)\n", what, fh_sync_n_held);
  abort();
}

/* The declaration of a lock; ends the process when there is none. The difference of the addresses is unsigned: for a
 * lock that lies before `first` it wraps around to a number beyond n_bytes. */
static const fh_fork_locks *locks_of(const void *mutex) {
  for (fh_fork_locks **each = first_locks; each < end_of_locks; ++each) {
    size_t n_bytes = (*each)->n * (*each)->n_stride;
    if ((uintptr_t)mutex - (uintptr_t)(*each)->first < n_bytes) return *each;
  }
  fprintf(stderr, "a lock is taken that was not declared by fork.h\n");
  abort();
}

/* Comes before the lock is taken, so that a wrong order is reported and does not end in a deadlock. */
void fh_sync_note_lock(const void *mutex) {
  const fh_fork_locks *locks = locks_of(mutex);
  for (int rank = (int)locks->rank; rank < FH_N_RANKS; ++rank) {
    if (n_held_of[rank] == 0) continue;
    fprintf(stderr, "the lock %s is taken while this thread holds one of the same or a later rank\n", locks->name);
    abort();
  }
  n_held_of[locks->rank] += 1;
  fh_sync_n_held += 1;
}

void fh_sync_note_unlock(const void *mutex) {
  n_held_of[locks_of(mutex)->rank] -= 1;
  fh_sync_n_held -= 1;
}
#endif
#endif
