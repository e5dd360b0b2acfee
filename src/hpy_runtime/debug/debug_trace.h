/* Debug mode: the native stack at the opening of a handle. A trace is freed with free(). */
#ifndef FFI_HPY_RUNTIME_DEBUG_TRACE_H_
#define FFI_HPY_RUNTIME_DEBUG_TRACE_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Returns the calling thread's stack, at most n_frames of it. NULL for 0 frames, on a platform without support, and if
 * memory is exhausted. */
struct FhpyTrace *fhpy_debug_trace_new(size_t n_frames);
struct FhpyTrace *fhpy_debug_trace_copy(const struct FhpyTrace *trace);
/* Returns a str with a line per frame, the innermost first; empty for NULL. NULL with an exception raised. */
PyObject *fhpy_debug_trace_text(const struct FhpyTrace *trace);

#endif /* FFI_HPY_RUNTIME_DEBUG_TRACE_H_ */
