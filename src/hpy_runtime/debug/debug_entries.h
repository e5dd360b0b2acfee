/* The groups of the debug context's entries: each function writes those of its file into the table. */
#ifndef FFI_HPY_RUNTIME_DEBUG_ENTRIES_H_
#define FFI_HPY_RUNTIME_DEBUG_ENTRIES_H_

#include "hpy_runtime/api/appended.h"

/* The entry CallRealFunctionFromTrampoline (debug_call.c). */
void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args);

void fhpy_debug_array_fill(HPyContext *ctx);
void fhpy_debug_builder_fill(HPyContext *ctx);
void fhpy_debug_tracker_fill(HPyContext *ctx);
void fhpy_debug_check_fill(FhpyContext *ctx);
void fhpy_debug_text_fill(HPyContext *ctx);

#endif /* FFI_HPY_RUNTIME_DEBUG_ENTRIES_H_ */
