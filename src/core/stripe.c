/* stripe.c - the locks of List and Dict. */
#include "stripe.h"

#include "sync.h"

#define FOUR FH_MUTEX_INIT, FH_MUTEX_INIT, FH_MUTEX_INIT, FH_MUTEX_INIT
#define SIXTEEN FOUR, FOUR, FOUR, FOUR

static fh_mutex stripes[64] = {SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN};

static fh_mutex *stripe_of(const void *container) {
  uint64_t mixed = (uint64_t)(uintptr_t)container * 0x9e3779b97f4a7c15u;
  return &stripes[mixed >> 58];
}

void fh_stripe_lock(const void *container) { fh_mutex_lock(stripe_of(container)); }
void fh_stripe_unlock(const void *container) { fh_mutex_unlock(stripe_of(container)); }
