/* stripe.h - the locks of List and Dict objects: one of 64, chosen by the container's address.
 *
 * They make this library's functions safe against one another. C++ code that changes a container inline takes none:
 * there the ABI leaves it to the program to keep threads apart. A thread holds at most one stripe. Under it no foreign
 * code runs and no error is raised. */
#ifndef FH_STRIPE_H_
#define FH_STRIPE_H_

#include "core/platform/shared.h"

void fh_stripe_lock(const void *container);
void fh_stripe_unlock(const void *container);

/* For what only reads the container: threads may be inside together, and write nothing that they share. What
 * fh_stripe_read returns is for fh_stripe_read_end. */
fh_shared_note fh_stripe_read(const void *container);
void fh_stripe_read_end(const void *container, fh_shared_note note);

#endif /* FH_STRIPE_H_ */
