/* Context entries for running Python code (import, compile, eval, context variables, leaving and reentering Python),
 * and Dump. */
#include <stdio.h>

#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "threads.h"

static HPy import_module(CTX, const char *name) { return to_hpy(PyImport_ImportModule(name)); }

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

static HPy eval_code(CTX, HPy code, HPy globals, HPy locals) {
  return to_hpy(PyEval_EvalCode(to_py(code), to_py(globals), to_py(locals)));
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

/* ---- debugging ---- */

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
  ctx->ctx_Import_ImportModule = import_module;
  ctx->ctx_Compile_s = compile_source;
  ctx->ctx_EvalCode = eval_code;
  ctx->ctx_ContextVar_New = context_var_new;
  ctx->ctx_ContextVar_Get = context_var_get;
  ctx->ctx_ContextVar_Set = context_var_set;
  ctx->ctx_LeavePythonExecution = leave_python;
  ctx->ctx_ReenterPythonExecution = reenter_python;
  ctx->ctx_Dump = dump_object;
}

/* --- exceptions and warnings ------------------------------------------------------------------------------------- */

/* Context entries: exceptions and warnings. A raised exception is the interpreter's own, so an exception that an
 * extension raises needs no translation. */

static void err_set_string(CTX, HPy type, const char *message) { PyErr_SetString(to_py(type), message); }
static void err_set_object(CTX, HPy type, HPy value) { PyErr_SetObject(to_py(type), to_py(value)); }

/* These two raise; the interpreter's functions always return NULL. */
static HPy err_set_from_errno(CTX, HPy type, const char *filename) {
  return to_hpy(PyErr_SetFromErrnoWithFilename(to_py(type), filename));
}
static void err_set_from_errno_objects(CTX, HPy type, HPy filename1, HPy filename2) {
  PyErr_SetFromErrnoWithFilenameObjects(to_py(type), to_py(filename1), to_py(filename2));
}

/* HPy returns a truth value where the interpreter returns the type. */
static int err_occurred(CTX) { return PyErr_Occurred() != NULL; }
static int err_exception_matches(CTX, HPy exc) { return PyErr_ExceptionMatches(to_py(exc)); }
static void err_no_memory(CTX) { PyErr_NoMemory(); }
static void err_clear(CTX) { PyErr_Clear(); }
static HPy err_new_exception(CTX, const char *name, HPy base, HPy dict) {
  return to_hpy(PyErr_NewException(name, to_py(base), to_py(dict)));
}
static HPy err_new_exception_with_doc(CTX, const char *name, const char *doc, HPy base, HPy dict) {
  return to_hpy(PyErr_NewExceptionWithDoc(name, doc, to_py(base), to_py(dict)));
}
static int err_warn(CTX, HPy category, const char *message, HPy_ssize_t stack_level) {
  return PyErr_WarnEx(to_py(category), message, stack_level);
}
static void err_write_unraisable(CTX, HPy o) { PyErr_WriteUnraisable(to_py(o)); }

/* Does not return. */
static void fatal_error(CTX, const char *message) { Py_FatalError(message); }

void fhpy_ctx_error_fill(HPyContext *ctx) {
  ctx->ctx_Err_SetString = err_set_string;
  ctx->ctx_Err_SetObject = err_set_object;
  ctx->ctx_Err_SetFromErrnoWithFilename = err_set_from_errno;
  ctx->ctx_Err_SetFromErrnoWithFilenameObjects = err_set_from_errno_objects;
  ctx->ctx_Err_Occurred = err_occurred;
  ctx->ctx_Err_ExceptionMatches = err_exception_matches;
  ctx->ctx_Err_NoMemory = err_no_memory;
  ctx->ctx_Err_Clear = err_clear;
  ctx->ctx_Err_NewException = err_new_exception;
  ctx->ctx_Err_NewExceptionWithDoc = err_new_exception_with_doc;
  ctx->ctx_Err_WarnEx = err_warn;
  ctx->ctx_Err_WriteUnraisable = err_write_unraisable;
  ctx->ctx_FatalError = fatal_error;
}
