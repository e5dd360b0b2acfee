/* The plain context: the process has this HPyContext, and one for debug mode (debug.h).
 *
 * The groups of entries.h write their entries into the table. The table is complete before fhpy_context_get() returns
 * it, and constant afterwards. */
#pragma once

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/api/appended.h"

/* Returns the context, or NULL with an exception raised. The first call measures the interpreter. The import lock of
 * ffi_hpy._hpy is held during that call, so the call ends before another begins. */
HPyContext *fhpy_context_get(void);

/* The context itself, for code that runs after fhpy_context_get() has succeeded. */
extern FhpyContext fhpy_context;

/* Checks that a table is completely filled. Returns 0, or -1 with an exception raised that names the offset of the
 * first gap. */
int fhpy_context_check(const HPyContext *ctx, size_t byte_size);

/* --- hooks -------------------------------------------------------------------------------------------------------- */

/* Python callbacks for events in native code. */

/* Calls hook(text). A raised exception and errno are saved and restored. An exception of the hook goes to
 * sys.unraisablehook, because many entries that call hooks cannot fail. */
void fhpy_hook_call(PyObject *hook, const char *text);
