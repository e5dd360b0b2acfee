/* Assembles the context: measures the interpreter, lets each group of entries fill its part of the table, and checks
 * for gaps. */
#include "context.h"

#include <errno.h>

#include "entries.h"
#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/lifetime/watch.h"
#include "hpy_runtime/types/instance_end.h"

FhpyContext fhpy_context;

static bool is_complete; /* written once, under the import lock */

int fhpy_context_check(const HPyContext *ctx, size_t byte_size) {
  /* From h_None on every member has the width of a pointer, and none may be missing. */
  const char *words = (const char *)ctx;
  for (size_t at = offsetof(HPyContext, h_None); at < byte_size; at += sizeof(void *)) {
    if (*(void *const *)(words + at) != NULL) continue;
    PyErr_Format(PyExc_SystemError, "ffi_hpy._hpy: the context entry at byte %zu is not filled", at);
    return -1;
  }
  return 0;
}

HPyContext *fhpy_context_get(void) {
  if (is_complete) return &fhpy_context.base;
  /* First, because the groups select their functions by the measurements. */
  if (fhpy_layout_measure() < 0 || fhpy_value_layout_measure() < 0 || fhpy_watch_measure() < 0 ||
      fhpy_instance_end_measure() < 0)
    return NULL;
  HPyContext *ctx = &fhpy_context.base;
  ctx->name = FHPY_CONTEXT_NAME;
  ctx->abi_version = HPY_ABI_VERSION;
  fhpy_ctx_constant_fill(ctx);
  fhpy_ctx_passed_fill(&fhpy_context);
  fhpy_ctx_object_fill(ctx);
  fhpy_ctx_call_fill(ctx);
  fhpy_ctx_value_fill(ctx);
  fhpy_ctx_container_fill(ctx);
  fhpy_ctx_builder_fill(ctx);
  fhpy_ctx_tracker_fill(ctx);
  fhpy_ctx_store_fill(ctx);
  fhpy_ctx_capsule_fill(ctx);
  fhpy_ctx_eval_fill(ctx);
  fhpy_ctx_trampoline_fill(ctx);
  fhpy_ctx_type_fill(ctx);
  fhpy_ctx_extension_fill(ctx);
  fhpy_ctx_appended_fill(&fhpy_context);
  if (fhpy_context_check(ctx, sizeof(FhpyContext)) < 0) return NULL;
  is_complete = true;
  return ctx;
}

/* --- hooks -------------------------------------------------------------------------------------------------------- */

/* Calls Python callbacks for events in native code. */

void fhpy_hook_call(PyObject *hook, const char *text) {
  int error_number = errno;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *args = PyTuple_New(1), *message = PyUnicode_FromString(text);
  PyObject *result = NULL;
  if (args != NULL && message != NULL) {
    PyTuple_SetItem(args, 0, message);
    message = NULL; /* the tuple has stolen it */
    result = PyObject_CallObject(hook, args);
  }
  if (result == NULL) PyErr_WriteUnraisable(hook);
  Py_DecRef(result), Py_DecRef(args), Py_DecRef(message);
  PyErr_Restore(type, value, traceback);
  errno = error_number;
}
