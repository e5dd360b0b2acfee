/* stripe.c - the locks of List and Dict. */
#include "stripe.h"

#include "core/platform/fork.h"

FH_LOCKS(stripes, 64, "stripes");

static fh_mutex *stripe_of(const void *container) {
  uint64_t mixed = (uint64_t)(uintptr_t)container * 0x9e3779b97f4a7c15u;
  return &stripes[mixed >> 58].lock;
}

void fh_stripe_lock(const void *container) { fh_mutex_lock(stripe_of(container)); }
void fh_stripe_unlock(const void *container) { fh_mutex_unlock(stripe_of(container)); }
