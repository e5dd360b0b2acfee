/* clock.h - reading the monotonic clock, and sleeping. */
#ifndef FH_CLOCK_H_
#define FH_CLOCK_H_

#include "base.h"

/* Nanoseconds since a fixed moment; the moment does not change while the process runs. */
uint64_t fh_clock_now(void);
/* Sleeps for about that long, at least one tick of the system's clock. */
void fh_clock_sleep(uint64_t nanoseconds);

#endif /* FH_CLOCK_H_ */
