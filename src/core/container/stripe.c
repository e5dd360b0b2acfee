/* stripe.c - the locks of List and Dict.
 *
 * The ABI's layouts have no room for a lock, so 64 locks serve all containers. Two containers may share a lock: a
 * thread holds at most one stripe, so sharing costs a wait but cannot cause a deadlock. */
#include "stripe.h"

FH_SHARED_LOCKS(stripes, FH_N_LOCKS_BY_ADDRESS, "stripes");

void fh_stripe_lock(const void *container) { fh_shared_write(fh_shared_of(stripes, container)); }
void fh_stripe_unlock(const void *container) { fh_shared_write_end(fh_shared_of(stripes, container)); }
fh_shared_note fh_stripe_read(const void *container) { return fh_shared_read(fh_shared_of(stripes, container)); }
void fh_stripe_read_end(const void *container, fh_shared_note note) {
  fh_shared_read_end(fh_shared_of(stripes, container), note);
}
