/* Context entries for running Python code (compile, context variables, leaving and reentering Python), Err_Occurred and
 * Dump. */
#include <stdio.h>

#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "threads.h"

static HPy compile_source(CTX, const char *source, const char *filename, HPy_SourceKind kind) {
  int start;
  switch (kind) {
  case HPy_SourceKind_Expr: start = EVAL_EXPRESSION; break;
  case HPy_SourceKind_File: start = EVAL_FILE; break;
  case HPy_SourceKind_Single: start = EVAL_SINGLE; break;
  default:
    PyErr_Format(PyExc_SystemError,
                 "HPy_Compile_s expects a source kind of 0 (expression), 1 (file) or 2 (single), "
                 "got %d",
                 (int)kind);
    return HPy_NULL;
  }
  return to_hpy(Py_CompileString(source, filename, start));
}

/* ---- context variables: not in the stable ABI, but exported by every supported version ---- */

/* Whether the interpreter has the functions; raises SystemError if not. */
static bool has_context_variables(void) {
  if (fhpy_optional.PyContextVar_New && fhpy_optional.PyContextVar_Get && fhpy_optional.PyContextVar_Set) return true;
  PyErr_SetString(PyExc_SystemError, "this interpreter does not export PyContextVar_New, PyContextVar_Get and "
                                     "PyContextVar_Set");
  return false;
}
static HPy context_var_new(CTX, const char *name, HPy default_value) {
  if (!has_context_variables()) return HPy_NULL;
  return to_hpy(fhpy_optional.PyContextVar_New(name, to_py(default_value)));
}
/* *result is a new handle; null for a variable without value and default, which is not an error. */
static int32_t context_var_get(CTX, HPy var, HPy default_value, HPy *result) {
  PyObject *value = NULL;
  int rc = has_context_variables() ? fhpy_optional.PyContextVar_Get(to_py(var), to_py(default_value), &value) : -1;
  *result = to_hpy(value);
  return rc;
}
static HPy context_var_set(CTX, HPy var, HPy value) {
  if (!has_context_variables()) return HPy_NULL;
  return to_hpy(fhpy_optional.PyContextVar_Set(to_py(var), to_py(value)));
}

/* ---- threads: between the two calls the thread is detached, and must not use a handle ---- */

static HPyThreadState leave_python(CTX) { return (HPyThreadState){(intptr_t)PyEval_SaveThread()}; }
static void reenter_python(CTX, HPyThreadState state) { fhpy_threads_reenter((void *)state._i); }

/* ---- errors and debugging ---- */

/* HPy returns a truth value where the interpreter returns the type. */
static int err_occurred(CTX) { return PyErr_Occurred() != NULL; }

/* Writes to stderr, by the interpreter's function if it has one. A raised exception stays raised. */
static void dump_object(CTX, HPy h) {
  void (*interpreter_dump)(PyObject *) =
      fhpy_optional.PyObject_Dump != NULL ? fhpy_optional.PyObject_Dump : fhpy_optional._PyObject_Dump;
  if (interpreter_dump != NULL)
    interpreter_dump(to_py(h));
  else
    fprintf(stderr, "<object at %p>\n", (void *)h._i);
}

void fhpy_ctx_eval_fill(HPyContext *ctx) {
  ctx->ctx_Compile_s = compile_source;
  ctx->ctx_ContextVar_New = context_var_new;
  ctx->ctx_ContextVar_Get = context_var_get;
  ctx->ctx_ContextVar_Set = context_var_set;
  ctx->ctx_LeavePythonExecution = leave_python;
  ctx->ctx_ReenterPythonExecution = reenter_python;
  ctx->ctx_Err_Occurred = err_occurred;
  ctx->ctx_Dump = dump_object;
}
