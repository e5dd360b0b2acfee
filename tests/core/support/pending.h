/* pending.h - the mode `pending`: every exported and every ffi.* function that a test calls begins with an error pending.
 *
 * The error belongs to nobody. It has an object whose deleter takes the core's locks and is counted. So an error that is
 * raised, or anything dropped, while the core holds a lock stops the program: the test build's check ends it, and
 * without the check it would wait for itself. In the other modes nothing happens.
 *
 * Exported functions are calls through macros of their names, which run.py writes into exported_calls.h. */
#ifndef TEST_PENDING_H_
#define TEST_PENDING_H_

/* Switches the mode on. */
void test_pending_run(void);
/* Fails unless each error that was made pending has ended. */
void test_pending_check(void);

/* Makes such an error pending, unless another one is: whether it did. */
int test_pending_begin(void);
/* Takes it back if it is there still. */
void test_pending_end(const int *has_begun);

/* Runs from here to the end of the block with that error pending. */
#define TEST_PENDING_HERE __attribute__((cleanup(test_pending_end), unused)) const int has_begun = test_pending_begin()
/* The value of a call that begins so. */
#define TEST_PENDING_CALL(call) \
  __extension__({               \
    TEST_PENDING_HERE;          \
    call;                       \
  })

#endif /* TEST_PENDING_H_ */
