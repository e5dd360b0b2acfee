/* park.h - sleeping until a word changes, and waking sleeping threads: the base of the locks of sync.h on Linux (futex)
 * and Windows (WaitOnAddress). */
#ifndef FH_PARK_H_
#define FH_PARK_H_

#include "base.h"

/* Sleeps while *word is `seen`; may also wake up without a reason. The system compares and puts to sleep in one step,
 * so a thread cannot miss a change with a wake-up between its own comparison and the sleep. */
void fh_park_sleep(uint32_t *word, uint32_t seen);
/* Wakes one of the threads that sleep on the word, or all. */
void fh_park_wake_one(uint32_t *word);
void fh_park_wake_all(uint32_t *word);

#endif /* FH_PARK_H_ */
