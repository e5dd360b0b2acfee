/* Trace mode: a context whose entries count their calls and take the time, and otherwise are the plain context's.
 *
 * Handles are the plain context's, too. Like the debug context it does not carry the extension of extension.h, whose
 * functions would not be seen. */
#ifndef FFI_HPY_RUNTIME_TRACE_CONTEXT_H_
#define FFI_HPY_RUNTIME_TRACE_CONTEXT_H_

#include "hpy_runtime/abi/handle.h"

/* The trace context. fhpy_context_get() has succeeded before. */
HPyContext *fhpy_trace_context_get(void);

#endif /* FFI_HPY_RUNTIME_TRACE_CONTEXT_H_ */
