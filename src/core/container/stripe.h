/* stripe.h - the locks that make the List and Dict functions safe against each other: one of 64, by address.
 *
 * Only this library's functions take them; C++ code that touches a container inline does not, and keeps the ABI's rule
 * that its users see to it. A thread holds at most one. Under it nothing foreign runs and no error is raised. */
#ifndef FH_STRIPE_H_
#define FH_STRIPE_H_

void fh_stripe_lock(const void *container);
void fh_stripe_unlock(const void *container);

#endif /* FH_STRIPE_H_ */
