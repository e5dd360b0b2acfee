/* stripe.h - the locks of List and Dict objects: one of 64, chosen by the container's address.
 *
 * The locks make this library's functions safe against each other. C++ code that changes a container inline takes no
 * lock: the ABI requires such a program to synchronize its threads. A thread holds at most one stripe. Under a stripe
 * no foreign code runs and no error is raised. */
#pragma once

#include "core/platform/hazard.h"

void fh_stripe_lock(const void *container);
void fh_stripe_unlock(const void *container);

/* For code that only reads the container: several threads may be inside together, and they write no shared memory. Pass
 * the result of fh_stripe_read to fh_stripe_read_end. */
fh_shared_note fh_stripe_read(const void *container);
void fh_stripe_read_end(const void *container, fh_shared_note note);
