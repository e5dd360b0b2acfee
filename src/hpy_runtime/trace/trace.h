/* Trace mode: the records of each entry of the context, and the Python functions that are called for each call. Any
 * number of threads may call all functions at once. */
#pragma once

#include "hpy_runtime/abi/handle.h"

typedef enum { TRACE_CALLS, TRACE_NANOSECONDS, TRACE_N_TOTALS } FhpyTraceTotal;
typedef enum { TRACE_ON_ENTER, TRACE_ON_EXIT, TRACE_N_HOOKS } FhpyTraceHook;

/* Registers hook(name), called at the beginning or the end of every call, except for calls that a hook makes itself.
 * NULL: no hook. A raised exception and errno are preserved; an exception that a hook raises goes to
 * sys.unraisablehook. */
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
