/* error.h - error objects, the calling thread's pending error, and backtraces.
 *
 * A function that fails leaves one error pending on its thread and returns -1. Nothing is leaked and nothing recurses
 * without memory: then the pending error is one preallocated MemoryError, shared by all threads and never freed. */
#ifndef FH_ERROR_H_
#define FH_ERROR_H_

#include "object.h"

/* The kinds in use, spelled as bindings know them. */
#define FH_RUNTIME_ERROR "RuntimeError"
#define FH_VALUE_ERROR "ValueError"
#define FH_TYPE_ERROR "TypeError"
#define FH_KEY_ERROR "KeyError"
#define FH_INDEX_ERROR "IndexError"
#define FH_MEMORY_ERROR "MemoryError"
#define FH_INTERNAL_ERROR "InternalError"

/* Makes an error of that kind, with the printf-formatted message, the pending one; always returns -1. The message says
 * what was expected and what came. Hold no lock: the error that was pending before goes, with all that it refers to. */
FH_COLD int fh_error_raise(const char *kind, const char *format, ...) FH_PRINTF(2, 3);
/* The same for a missing block of memory; allocates nothing. Always returns -1. */
FH_COLD int fh_error_raise_no_memory(void);

/* Whether this is that one error, which all threads share: it must not be changed. */
int fh_error_is_no_memory(const TVMFFIObject *error);
/* A new Error (a new reference), not raised; the arguments are copied, cause and context gain references. NULL without
 * memory, and then nothing is pending. */
TVMFFIObject *fh_error_new(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIByteArray backtrace,
                           TVMFFIObject *cause_chain, TVMFFIObject *extra_context);

/* Whether an error is pending on this thread. */
int fh_error_is_pending(void);
/* Takes the pending error: the caller owns it; NULL if there is none. */
TVMFFIObject *fh_error_take(void);
/* Makes `error` the pending one and takes the caller's reference; drops the one before. NULL clears. Hold no lock. */
void fh_error_put(TVMFFIObject *error);
/* Drops the pending error, if any. */
void fh_error_clear(void);

void fh_error_init(void);

#endif /* FH_ERROR_H_ */
