/* pending.h - the mode `pending`: an error is pending when a test calls an exported function or an ffi.* one.
 *
 * The error holds an object with a deleter that takes the core's locks. A function that replaces the error, or drops
 * anything, while it holds a lock is caught: the test build's check ends the program, and without the check the thread
 * would wait for itself. In the other modes nothing happens.
 *
 * run.py writes exported_calls.h: a macro for each exported function, which calls it by TEST_PENDING_CALL. */
#ifndef TEST_PENDING_H_
#define TEST_PENDING_H_

/* Switches the mode on. */
void test_pending_run(void);
/* Fails unless each error that was made pending has ended. */
void test_pending_check(void);

/* Makes such an error pending, unless another one is. Returns whether it did. */
int test_pending_begin(void);
/* Takes the error back if it is still pending. */
void test_pending_end(const int *has_begun);

/* The rest of the block begins with such an error pending. */
#define TEST_PENDING_HERE __attribute__((cleanup(test_pending_end), unused)) const int has_begun = test_pending_begin()
/* The value of a call that begins with such an error pending. */
#define TEST_PENDING_CALL(call) \
  __extension__({               \
    TEST_PENDING_HERE;          \
    call;                       \
  })

#endif /* TEST_PENDING_H_ */
