/* fork_handlers.c - the handlers of fork(), for all declarations by fork.h in this binary. Empty on Windows, which has
 * no fork.
 *
 * before_fork runs in the thread that forks, give_all afterwards in the parent, in_child in the child. The linker makes
 * their lists of the pointers that the declarations have put into two sections. */
#include "fork_entries.h"

#if !defined(_WIN32)
#include <pthread.h>

static fh_mutex *lock_at(const fh_fork_locks *locks, size_t i) {
  return (fh_mutex *)(void *)((char *)locks->first + i * locks->n_stride);
}

/* Takes all locks by rank, like any thread that holds two locks: so this thread never waits for a lock whose holder
 * waits for a lock of this thread. Within a rank the order of the declarations is sufficient: only threads that fork
 * hold two locks of one rank, and all of them take these in that order. The test build's checks would refuse that, so
 * this calls fh_mutex_take, which skips them, and not fh_mutex_lock. */
static void take_all(void) {
  for (int rank = 0; rank < FH_N_RANKS; ++rank) {
    for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
      if ((*each)->rank != (fh_rank)rank) continue;
      for (size_t i = 0; i < (*each)->n; ++i) fh_mutex_take(lock_at(*each, i));
    }
  }
}

/* In any order: releasing a lock never waits. */
static void give_all(void) {
  for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
    for (size_t i = 0; i < (*each)->n; ++i) fh_mutex_give(lock_at(*each, i));
  }
}

static void before_fork(void) {
  fh_sync_check_unlocked("fork"); /* with a lock held, take_all would wait for its own thread */
  take_all();
}

/* A lock of macOS stores its thread as a port, which differs in the child: releasing the lock would end the process, so
 * the child initialises it again. Never run. */
static void free_all_in_child(void) {
#if defined(__APPLE__)
  for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
    for (size_t i = 0; i < (*each)->n; ++i) lock_at(*each, i)->lock = OS_UNFAIR_LOCK_INIT;
  }
#else
  give_all();
#endif
}

/* The functions of FH_FORK_CHILD run before the locks are free, because some change data that a lock guards. */
static void in_child(void) {
  for (fh_fork_child *each = fh_fork_first_child; each < fh_fork_end_of_children; ++each) (*each)();
  free_all_in_child();
}

/* The registration. glibc has __register_atfork, and on newer machine types nothing else: there pthread_atfork is
 * static code in each library that calls it. musl only has pthread_atfork. Both are weak, so that a binary loads with
 * either. */
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

/* The registration fails without memory; then forks run without the handlers. */
FH_CONSTRUCTOR(fh_fork_load) { (void)add_handlers(); }
#endif
