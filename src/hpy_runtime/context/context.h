/* The plain context: the one HPyContext of the process, apart from debug mode's (debug_context.h).
 *
 * The groups of entries.h write their entries into the table. It is complete before fhpy_context_get() returns it, and
 * constant afterwards. */
#ifndef FFI_HPY_RUNTIME_CONTEXT_H_
#define FFI_HPY_RUNTIME_CONTEXT_H_

#include "hpy_runtime/api/appended.h"

/* The context, or NULL with an exception raised. The first call measures the interpreter. It is made with the import
 * lock of ffi_hpy._hpy held, so it has ended before any other begins. */
HPyContext *fhpy_context_get(void);

/* The context itself, for code that runs after fhpy_context_get() has succeeded. */
extern FhpyContext fhpy_context;

/* Whether a table is filled completely: 0, or -1 with an exception raised that tells the offset of the first gap. */
int fhpy_context_check(const HPyContext *ctx, size_t byte_size);

#endif /* FFI_HPY_RUNTIME_CONTEXT_H_ */
