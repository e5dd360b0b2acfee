/* stripe.c - the locks of List and Dict.
 *
 * The ABI's layouts have no room for a lock, so 64 locks serve all containers. Two containers may share one: a thread
 * holds at most one stripe, so that costs a wait and never a deadlock. */
#include "stripe.h"

#include "core/platform/fork.h"

FH_LOCKS(stripes, 64, "stripes");

static fh_mutex *stripe_of(const void *container) {
  /* Fibonacci hashing: 2**64 divided by the golden ratio carries all bits of the address into the top 6. The low bits
   * alone would not do, because blocks are aligned. */
  uint64_t mixed = (uint64_t)(uintptr_t)container * 0x9e3779b97f4a7c15u;
  return &stripes[mixed >> 58].lock;
}

void fh_stripe_lock(const void *container) { fh_mutex_lock(stripe_of(container)); }
void fh_stripe_unlock(const void *container) { fh_mutex_unlock(stripe_of(container)); }
