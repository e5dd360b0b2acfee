/* pending.h - the mode `pending`: an error is pending when a test calls an exported function or an ffi.* function.
 *
 * The error holds an object whose deleter takes the core's locks. This detects a function that replaces the error, or
 * drops anything, while holding a lock: the test build's check ends the program, and without the check the thread would
 * deadlock. In the other modes these functions do nothing.
 *
 * run.py writes exported_calls.h: a macro for each exported function that calls it by TEST_PENDING_CALL. */
#ifndef TEST_PENDING_H_
#define TEST_PENDING_H_

/* Enables the mode. */
void test_pending_run(void);
/* Fails unless each pending error of this mode is destroyed. */
void test_pending_check(void);

/* Raises such an error, unless another one is pending. Returns whether it did. */
int test_pending_begin(void);
/* Removes the error if it is still pending. */
void test_pending_end(const int *has_begun);

/* The rest of the block runs with such an error pending. */
#define TEST_PENDING_HERE __attribute__((cleanup(test_pending_end), unused)) const int has_begun = test_pending_begin()
/* The value of a call that runs with such an error pending. */
#define TEST_PENDING_CALL(call) \
  __extension__({               \
    TEST_PENDING_HERE;          \
    call;                       \
  })

#endif /* TEST_PENDING_H_ */
