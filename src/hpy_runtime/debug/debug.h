/* Debug mode: the second context, which notices misused handles. */
#pragma once

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/api/appended.h"

/* --- the context -------------------------------------------------------------------------------------------------- */

/* A second context, whose handles are numbers of records instead of object pointers, so that misuse is detected.
 *
 * A module loaded with this context has the usual entries. Each unwraps its handles, calls the entry of the plain
 * context and wraps the result (debug_context.c, debug_call.c). Some entries check more than handles (debug_builder.c,
 * debug_check.c, debug_call.c). A call into the module wraps the arguments for the duration of the
 * call (debug_call.c). One debug context serves all threads, native ones included.
 *
 * The context does not have the extension of extension.h, whose contract is that handles are pointers. */

/* Returns the debug context, or NULL with an exception raised. */
HPyContext *fhpy_debug_context_get(void);

/* --- groups of entries -------------------------------------------------------------------------------------------- */

/* The groups of the debug context's entries: each function writes the entries of its file into the table. */

/* The entry CallRealFunctionFromTrampoline (debug_call.c). */
void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args);

void fhpy_debug_array_fill(HPyContext *ctx);
void fhpy_debug_builder_fill(HPyContext *ctx);
void fhpy_debug_tracker_fill(HPyContext *ctx);
void fhpy_debug_check_fill(FhpyContext *ctx);
void fhpy_debug_text_fill(HPyContext *ctx);

/* --- lists of handles --------------------------------------------------------------------------------------------- */

/* Lists of open and closed handles, for Python and for the end of the process. */

/* Returns a list of tuples, one for each handle, builder and tracker with a serial number greater than `since`:
 *   (serial, kind, word, opener, closer, object, bytes of kept strings, native stack)
 * kind, opener, closer and stack are str; closer and object are None if there is none. The object of a builder is its
 * type. Open: the handles that the extension must close, in the order of opening. Closed: the handles that are not
 * forgotten, in the order of closing. NULL with an exception raised. */
PyObject *fhpy_debug_list_open(uint64_t since);
PyObject *fhpy_debug_list_closed(uint64_t since);
/* Writes the open handles to stderr, if there are any. Handles that another running thread has opened are omitted,
 * because they may be in use. */
void fhpy_debug_list_report(void);
