/* system.h - what the tests take of the system, where systems differ. system_posix.c and system_windows.c have it. */
#ifndef TEST_SYSTEM_H_
#define TEST_SYSTEM_H_

#include <stddef.h>

/* A library of the system that every process can load. */
#if defined(_WIN32)
#define TEST_SYSTEM_LIBRARY "version.dll"
#elif defined(__APPLE__)
#define TEST_SYSTEM_LIBRARY "libz.dylib"
#elif defined(__GLIBC__)
#define TEST_SYSTEM_LIBRARY "libm.so.6"
#else
#define TEST_SYSTEM_LIBRARY "libc.so"
#endif

/* Changes the environment; NULL takes the variable away. */
void test_setenv(const char *name, const char *value);

/* Runs body(state) in a process of its own, and copies the beginning of what it writes to stderr. 1 if that ends by
 * abort(), 0 if not. -1 if this is to be passed over: on Windows, which cannot copy a process, a new one runs the same
 * test up to the same place, where it runs the body. */
int test_system_aborts(void (*body)(void *state), void *state, char *said, size_t n_said);
/* For that: the test that begins, and in the new process which of its calls is meant, from 1 on. */
void test_system_begin(const char *test_name);
void test_system_apart(int call);

#endif /* TEST_SYSTEM_H_ */
