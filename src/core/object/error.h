/* error.h - error objects, and the calling thread's pending error.
 *
 * A function that fails leaves one error pending on its thread and returns -1. Without memory for an error the pending
 * one is a static MemoryError, which all threads share. */
#ifndef FH_ERROR_H_
#define FH_ERROR_H_

#include "object.h"

/* The kinds of errors that this library raises: names of Python's exceptions, but for the last. */
#define FH_RUNTIME_ERROR "RuntimeError"
#define FH_VALUE_ERROR "ValueError"
#define FH_TYPE_ERROR "TypeError"
#define FH_KEY_ERROR "KeyError"
#define FH_INDEX_ERROR "IndexError"
#define FH_MEMORY_ERROR "MemoryError"
#define FH_INTERNAL_ERROR "InternalError"

/* Raises an error of that kind with a printf-formatted message, which says what was expected and what came: it becomes
 * the pending one. Always returns -1. Hold no lock: the error that was pending before is released, with all that it
 * refers to, which may run foreign code. */
FH_COLD int fh_error_raise(const char *kind, const char *format, ...) FH_PRINTF(2, 3);
/* Raises the static MemoryError; allocates nothing. Always returns -1. Hold no lock, as for fh_error_raise. */
FH_COLD int fh_error_raise_no_memory(void);

/* Whether this is the static MemoryError, which must not be changed. */
int fh_error_is_no_memory(const TVMFFIObject *error);
/* A new Error, not raised: a new reference. The texts are copied; cause and context gain a reference each. NULL without
 * memory, and nothing is pending then. */
TVMFFIObject *fh_error_new(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIByteArray backtrace,
                           TVMFFIObject *cause_chain, TVMFFIObject *extra_context);

/* Whether an error is pending on this thread. */
int fh_error_is_pending(void);
/* Takes the pending error: the caller owns it; NULL if there is none. */
TVMFFIObject *fh_error_take(void);
/* Makes `error` the pending one, taking the caller's reference, and drops the one before. NULL leaves none pending.
 * Hold no lock. */
void fh_error_put(TVMFFIObject *error);
/* Drops the pending error, if any. Hold no lock. */
void fh_error_clear(void);

/* For the load-time constructor, before any other part: their failures are errors. */
void fh_error_init(void);

#endif /* FH_ERROR_H_ */
