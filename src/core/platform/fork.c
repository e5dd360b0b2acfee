/* fork.c - the handlers of fork(), for all declarations by fork.h in this binary, and the checks of the test build. */
#include "fork.h"

/* The linker defines symbols at the start and the end of a section. In ELF they are weak, because the section does not
 * exist in a binary without such entries; then both are NULL and loops from one to the other do nothing. The symbols
 * are hidden, so that each binary finds its own sections and not those of a binary that was loaded earlier. The linkers
 * of Windows have no such symbols, but sort sections by the part of the name after a $: the checks below define the
 * first and the last entry for them. */
#if defined(__APPLE__)
extern fh_fork_locks *fh_fork_first_locks[] __asm("section$start$__DATA$fh_fork_locks");
extern fh_fork_locks *fh_fork_end_of_locks[] __asm("section$end$__DATA$fh_fork_locks");
extern fh_fork_child fh_fork_first_child[] __asm("section$start$__DATA$fh_fork_child");
extern fh_fork_child fh_fork_end_of_children[] __asm("section$end$__DATA$fh_fork_child");
#elif defined(_WIN32)
extern fh_fork_locks *fh_fork_first_locks[], *fh_fork_end_of_locks[];
#else
#define FH_OF_LINKER __attribute__((weak, visibility("hidden")))
extern fh_fork_locks *fh_fork_first_locks[] __asm("__start_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_locks *fh_fork_end_of_locks[] __asm("__stop_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_child fh_fork_first_child[] __asm("__start_fh_fork_child") FH_OF_LINKER;
extern fh_fork_child fh_fork_end_of_children[] __asm("__stop_fh_fork_child") FH_OF_LINKER;
#endif

/* --- handlers ---------------------------------------------------------------------------------------------------- */

/* Windows has no fork. before_fork runs in the thread that forks, give_all afterwards in the parent, in_child in the
 * child. The linker makes their lists of the pointers that the declarations have put into two sections. */

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

/* --- checks of the test build ------------------------------------------------------------------------------------ */

/* The test build refuses locks that fork.h did not declare, and locks in the wrong order. */

#ifdef FH_TEST
#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
__attribute__((section("fh_fork_locks$a"), used)) fh_fork_locks *fh_fork_first_locks[1];
__attribute__((section("fh_fork_locks$z"), used)) fh_fork_locks *fh_fork_end_of_locks[1];
#endif

FH_THREAD_LOCAL int fh_sync_n_held; /* locks other than guards, and sections counted by fh_sync_count_section */
static FH_THREAD_LOCAL int n_held_of[FH_N_RANKS]; /* locks only, by rank */

void fh_sync_fail_locked(const char *what) {
  fprintf(stderr, "%s runs while this thread holds %d lock(s)\n", what, fh_sync_n_held);
  abort();
}

/* The declaration of a lock; ends the process if there is none. The difference of the addresses is unsigned: for a lock
 * before `first` it wraps around to a number beyond n_bytes. */
static const fh_fork_locks *locks_of(const void *mutex) {
  for (fh_fork_locks **each = fh_fork_first_locks; each < fh_fork_end_of_locks; ++each) {
    if (*each == NULL) continue; /* padding by the linkers of Windows */
    size_t n_bytes = (*each)->n * (*each)->n_stride;
    if ((uintptr_t)mutex - (uintptr_t)(*each)->first < n_bytes) return *each;
  }
  fprintf(stderr, "a lock is taken that was not declared by fork.h\n");
  abort();
}

/* Runs before the lock is taken, so that a wrong order is reported and does not end in a deadlock. */
void fh_sync_note_lock(const void *mutex) {
  const fh_fork_locks *locks = locks_of(mutex);
  for (int rank = (int)locks->rank; rank < FH_N_RANKS; ++rank) {
    if (n_held_of[rank] == 0) continue;
    fprintf(stderr, "the lock %s is taken while this thread holds one of the same or a later rank\n", locks->name);
    abort();
  }
  n_held_of[locks->rank] += 1;
  fh_sync_n_held += locks->rank != FH_RANK_GUARD;
}

void fh_sync_note_unlock(const void *mutex) {
  fh_rank rank = locks_of(mutex)->rank;
  n_held_of[rank] -= 1;
  fh_sync_n_held -= rank != FH_RANK_GUARD;
}
#endif
