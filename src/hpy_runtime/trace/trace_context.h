/* Trace mode: a context whose entries count and time their calls, and call the plain context's entries.
 *
 * Handles are the plain context's, too. Like the debug context, it does not have the extension of extension.h, because
 * calls of its functions would not be recorded. */
#ifndef FFI_HPY_RUNTIME_TRACE_CONTEXT_H_
#define FFI_HPY_RUNTIME_TRACE_CONTEXT_H_

#include "hpy_runtime/abi/handle.h"

/* Returns the trace context. fhpy_context_get() must have succeeded before. */
HPyContext *fhpy_trace_context_get(void);

#endif /* FFI_HPY_RUNTIME_TRACE_CONTEXT_H_ */
