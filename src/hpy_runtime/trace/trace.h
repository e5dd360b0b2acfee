/* Trace mode: the records of each entry of the context, and the Python functions that are called for each call.
 *
 * An entry is identified by its place: the number of words before it in HPyContext. Any number of threads may call all
 * functions at once. */
#pragma once

#include "hpy_runtime/abi/handle.h"

#define TRACE_PLACE(name) (offsetof(HPyContext, ctx_##name) / sizeof(void *))

typedef enum { TRACE_CALLS, TRACE_NANOSECONDS, TRACE_N_TOTALS } FhpyTraceTotal;
typedef enum { TRACE_ON_ENTER, TRACE_ON_EXIT, TRACE_N_HOOKS } FhpyTraceHook;

/* Begins a call: counts the call, calls a hook, and returns the time. A raised exception and errno are preserved; an
 * exception that a hook raises goes to sys.unraisablehook. */
uint64_t fhpy_trace_record_enter(size_t place);
/* Ends a call that began at `start`. */
void fhpy_trace_record_leave(size_t place, uint64_t start);

/* Registers hook(name), called at the beginning or the end of every call, except for calls that a hook makes itself.
 * NULL: no hook. */
void fhpy_trace_record_set_hook(FhpyTraceHook which, PyObject *hook);

/* Returns a dict from the names of all entries, like ctx_Add, to one of their totals. NULL with an exception raised. */
PyObject *fhpy_trace_record_totals(FhpyTraceTotal which);

/* --- the context ------------------------------------------------------------------------------------------------- */

/* Trace mode: a context whose entries count and time their calls, and call the plain context's entries.
 *
 * Handles are the plain context's, too. Like the debug context, it does not have the extension of extension.h, because
 * calls of its functions would not be recorded. */

/* Returns the trace context. fhpy_context_get() must have succeeded before. */
HPyContext *fhpy_trace_context_get(void);
