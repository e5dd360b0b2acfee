/* fork_handlers.c - the handlers of fork(), for everything that fork.h has declared in this binary. Empty on Windows,
 * which has no fork.
 *
 * before_fork runs in the thread that forks, give_all afterwards in the parent, in_child in the child. The lists that
 * they go through are made by the linker, out of the pointers that the declarations have left in two sections. */
#include "fork_entries.h"

#if !defined(_WIN32)
#include <pthread.h>

static fh_mutex *lock_at(const fh_fork_locks *locks, size_t i) {
  return (fh_mutex *)(void *)((char *)locks->first + i * locks->n_stride);
}

/* By rank, as any thread does that holds two locks: so this thread never waits for a lock whose holder waits for one of
 * its own. Within a rank the order of the declarations will do: only threads that fork hold two locks of one rank, and
 * all of them take these in that order. The test build's checks would refuse that: hence fh_mutex_take, which does not
 * ask them, and not fh_mutex_lock. */
static void take_all(void) {
  for (int rank = 0; rank < FH_N_RANKS; ++rank) {
    for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
      if ((*each)->rank != (fh_rank)rank) continue;
      for (size_t i = 0; i < (*each)->n; ++i) fh_mutex_take(lock_at(*each, i));
    }
  }
}

/* In any order: giving a lock back waits for nobody. */
static void give_all(void) {
  for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
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
  for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
    for (size_t i = 0; i < (*each)->n; ++i) lock_at(*each, i)->lock = OS_UNFAIR_LOCK_INIT;
  }
#else
  give_all();
#endif
}

/* The functions of FH_FORK_CHILD come before the locks are free, because some change what a lock guards. */
static void in_child(void) {
  for (fh_fork_child *each = fh_fork_first_child; each < fh_fork_end_of_children; ++each) (*each)();
  free_all_in_child();
}

/* What registers them. glibc has __register_atfork, and on younger machines nothing else: there pthread_atfork is code
 * of each library that calls it. musl has pthread_atfork alone. Both are weak, so that a binary loads with either. */
#if defined(__linux__)
extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library)
    __attribute__((weak));
#pragma weak pthread_atfork
extern char this_library __asm("__dso_handle") __attribute__((visibility("hidden")));

static int add_handlers(void) {
  if (__register_atfork != NULL) return __register_atfork(before_fork, give_all, in_child, &this_library);
  return pthread_atfork(before_fork, give_all, in_child);
}
#else
static int add_handlers(void) { return pthread_atfork(before_fork, give_all, in_child); }
#endif

/* It fails without memory; then forks go on without the handlers. */
FH_CONSTRUCTOR(fh_fork_load) { (void)add_handlers(); }
#endif
