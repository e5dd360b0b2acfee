/* stripe.c - the locks of List and Dict.
 *
 * The ABI's layouts have no room for a lock, so 64 locks serve all containers. Two containers may share one: a thread
 * holds at most one stripe, so that costs a wait and never a deadlock. */
#include "stripe.h"

#include "core/platform/fork.h"

FH_LOCKS(stripes, FH_N_LOCKS_BY_ADDRESS, "stripes");

void fh_stripe_lock(const void *container) { fh_mutex_lock(fh_fork_lock_of(stripes, container)); }
void fh_stripe_unlock(const void *container) { fh_mutex_unlock(fh_fork_lock_of(stripes, container)); }
