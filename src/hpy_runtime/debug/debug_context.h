/* Debug mode: a second context, whose handles are numbers of records instead of object pointers, so that misuse is
 * detected.
 *
 * A module loaded with this context has the usual entries. Each unwraps its handles, calls the entry of the plain
 * context and wraps the result (debug_context.c, debug_call.c). Some entries check more than handles (debug_builder.c,
 * debug_builder.c, debug_check.c, debug_call.c). A call into the module wraps the arguments for the duration of the
 * call (debug_call.c). One debug context serves all threads, native ones included.
 *
 * The context does not have the extension of extension.h, whose contract is that handles are pointers. */
#ifndef FFI_HPY_RUNTIME_DEBUG_CONTEXT_H_
#define FFI_HPY_RUNTIME_DEBUG_CONTEXT_H_

#include "hpy_runtime/abi/handle.h"

/* Returns the debug context, or NULL with an exception raised. */
HPyContext *fhpy_debug_context_get(void);

#endif /* FFI_HPY_RUNTIME_DEBUG_CONTEXT_H_ */
