/* error.h - error objects, and the calling thread's pending error.
 *
 * A function that fails leaves one error pending on its thread and returns -1. If memory for an error runs out, the
 * pending error is a static MemoryError, which all threads share. */
#pragma once

#include "object.h"

/* The kinds of errors that this library raises: names of Python's exceptions, except for the last. */
#define FH_RUNTIME_ERROR "RuntimeError"
#define FH_VALUE_ERROR "ValueError"
#define FH_TYPE_ERROR "TypeError"
#define FH_KEY_ERROR "KeyError"
#define FH_INDEX_ERROR "IndexError"
#define FH_MEMORY_ERROR "MemoryError"
#define FH_INTERNAL_ERROR "InternalError"

/* Raises an error of that kind with a printf-formatted message, which names the expected and the actual value. Always
 * returns -1. Hold no lock: the function releases the error that was pending before, with everything that this error
 * refers to, which may run foreign code. */
FH_COLD int fh_error_raise(const char *kind, const char *format, ...) FH_PRINTF(2, 3);
/* Raises the static MemoryError; allocates nothing. Always returns -1. Hold no lock, as for fh_error_raise. */
FH_COLD int fh_error_raise_no_memory(void);

/* Lets a pending error that names classes of the arguments at `from` be one about those at `to`. */
FH_COLD void fh_error_move_class_places(const TVMFFIAny *from, uintptr_t to);

/* Whether this is the static MemoryError, which must not be changed. */
bool fh_error_is_memory_error(const TVMFFIObject *error);
/* Makes a new Error without raising it; the result is a new reference. The strings are copied; cause and context gain a
 * reference each. NULL without memory, and then no error is pending. */
TVMFFIObject *fh_error_new(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIByteArray backtrace,
                           TVMFFIObject *cause_chain, TVMFFIObject *extra_context);

/* Whether an error is pending on this thread. */
bool fh_error_is_pending(void);
/* Takes the pending error: the caller owns the result; NULL if no error is pending. */
TVMFFIObject *fh_error_take(void);
/* Makes `error` the pending error, steals the caller's reference, and drops the earlier error. NULL leaves none
 * pending. Hold no lock. */
void fh_error_put(TVMFFIObject *error);
/* Drops the pending error, if any. Hold no lock. */
void fh_error_clear(void);

/* For the load-time constructor, before any other part: the other parts raise errors. */
void fh_error_init(void);
