/* system.h - functions of the tests that depend on the system; defined in system_posix.c and system_windows.c. */
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

/* Changes the environment; NULL removes the variable. */
void test_setenv(const char *name, const char *value);

/* Runs body(state) in a separate process, and copies the beginning of its stderr output. Returns 1 if that process ends
 * by abort(), 0 if not. Returns -1 if the caller must skip this call: Windows cannot copy a process, so a new process
 * runs the same test up to the same call and runs the body there. */
int test_system_aborts(void (*body)(void *state), void *state, char *said, size_t n_said);
/* For test_system_aborts: the test that begins; and, in the new process, the number of the call to run, from 1 on. */
void test_system_begin(const char *test_name);
void test_system_apart(int call);

#endif /* TEST_SYSTEM_H_ */
