/* Trace mode: what is recorded of each entry of the context, and the functions of Python that are told of calls.
 *
 * An entry is known by its place: the number of words before it in HPyContext. All functions may be called by any
 * number of threads at once. */
#ifndef FFI_HPY_RUNTIME_TRACE_RECORD_H_
#define FFI_HPY_RUNTIME_TRACE_RECORD_H_

#include "hpy_runtime/abi/handle.h"

#define TRACE_PLACE(name) (offsetof(HPyContext, ctx_##name) / sizeof(void *))

typedef enum { TRACE_CALLS, TRACE_NANOSECONDS, TRACE_N_TOTALS } FhpyTraceTotal;
typedef enum { TRACE_ON_ENTER, TRACE_ON_EXIT, TRACE_N_HOOKS } FhpyTraceHook;

/* Begins a call: counts it, calls a hook, and returns the time. An exception that is raised stays as it is, and so does
 * errno; one that a hook raises goes to sys.unraisablehook. */
uint64_t fhpy_trace_record_enter(size_t place);
/* Ends a call that has begun at `start`. */
void fhpy_trace_record_leave(size_t place, uint64_t start);

/* Has hook(name) called at the beginning or the end of every call, but of none that a hook makes itself. NULL: none
 * is. */
void fhpy_trace_record_set_hook(FhpyTraceHook which, PyObject *hook);

/* A dict from the names of all entries, as in ctx_Add, to one of their totals. NULL with an exception raised. */
PyObject *fhpy_trace_record_totals(FhpyTraceTotal which);

#endif /* FFI_HPY_RUNTIME_TRACE_RECORD_H_ */
