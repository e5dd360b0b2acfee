/* Context entries: exceptions and warnings. A raised exception is the interpreter's own, so an exception that an
 * extension raises needs no translation. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static void err_set_string(HPyContext *ctx, HPy type, const char *message) {
  (void)ctx, PyErr_SetString(to_py(type), message);
}
static void err_set_object(HPyContext *ctx, HPy type, HPy value) {
  (void)ctx, PyErr_SetObject(to_py(type), to_py(value));
}

/* These two raise; the interpreter's functions always return NULL. */
static HPy err_set_from_errno(HPyContext *ctx, HPy type, const char *filename) {
  return (void)ctx, to_hpy(PyErr_SetFromErrnoWithFilename(to_py(type), filename));
}
static void err_set_from_errno_objects(HPyContext *ctx, HPy type, HPy filename1, HPy filename2) {
  (void)ctx, PyErr_SetFromErrnoWithFilenameObjects(to_py(type), to_py(filename1), to_py(filename2));
}

/* HPy returns a truth value where the interpreter returns the type. */
static int err_occurred(HPyContext *ctx) { return (void)ctx, PyErr_Occurred() != NULL; }
static int err_exception_matches(HPyContext *ctx, HPy exc) { return (void)ctx, PyErr_ExceptionMatches(to_py(exc)); }
static void err_no_memory(HPyContext *ctx) { (void)ctx, PyErr_NoMemory(); }
static void err_clear(HPyContext *ctx) { (void)ctx, PyErr_Clear(); }
static HPy err_new_exception(HPyContext *ctx, const char *name, HPy base, HPy dict) {
  return (void)ctx, to_hpy(PyErr_NewException(name, to_py(base), to_py(dict)));
}
static HPy err_new_exception_with_doc(HPyContext *ctx, const char *name, const char *doc, HPy base, HPy dict) {
  return (void)ctx, to_hpy(PyErr_NewExceptionWithDoc(name, doc, to_py(base), to_py(dict)));
}
static int err_warn(HPyContext *ctx, HPy category, const char *message, HPy_ssize_t stack_level) {
  return (void)ctx, PyErr_WarnEx(to_py(category), message, stack_level);
}
static void err_write_unraisable(HPyContext *ctx, HPy o) { (void)ctx, PyErr_WriteUnraisable(to_py(o)); }

/* Does not return. */
static void fatal_error(HPyContext *ctx, const char *message) { (void)ctx, Py_FatalError(message); }

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
