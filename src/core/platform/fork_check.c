/* fork_check.c - checks of the test build: it refuses locks that fork.h did not declare, and locks in the wrong order.
 * Empty in other builds. */
#include "fork_entries.h"

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
