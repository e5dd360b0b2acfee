/* The groups of the context's entries. Each ctx_*.c has the entries of one group as static functions, and one function,
 * declared here, that writes them into the table.
 *
 * Unless stated otherwise an entry requires an attached thread (with the GIL, where there is one), borrows its handle
 * arguments, returns a new handle, and reports failure as HPy_NULL, -1 or NULL with a Python exception raised. */
#pragma once

#include "hpy_runtime/api/appended.h"

void fhpy_ctx_constant_fill(HPyContext *ctx);
void fhpy_ctx_passed_fill(FhpyContext *ctx);
void fhpy_ctx_object_fill(HPyContext *ctx);
void fhpy_ctx_call_fill(HPyContext *ctx);
void fhpy_ctx_value_fill(HPyContext *ctx);
void fhpy_ctx_container_fill(HPyContext *ctx);
/* The entries container_take and dict_next of the extension. */
HPy fhpy_ctx_container_take(int kind, const HPy *items, HPy_ssize_t n);
int fhpy_ctx_container_next(HPy dict, HPy_ssize_t *position, HPy *key, HPy *value);
HPy_ssize_t fhpy_ctx_container_set_items(HPy set, HPy *items, HPy_ssize_t room);
void fhpy_ctx_builder_fill(HPyContext *ctx);
void fhpy_ctx_tracker_fill(HPyContext *ctx);
void fhpy_ctx_store_fill(HPyContext *ctx);
void fhpy_ctx_capsule_fill(HPyContext *ctx);
void fhpy_ctx_eval_fill(HPyContext *ctx);
void fhpy_ctx_trampoline_fill(HPyContext *ctx);
void fhpy_ctx_type_fill(HPyContext *ctx);
void fhpy_ctx_extension_fill(HPyContext *ctx);
void fhpy_ctx_appended_fill(FhpyContext *ctx);
