/* Context entries: bytes. The data of a bytes object is borrowed: it lives as long as the object. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static int bytes_check(HPyContext *ctx, HPy h) {
  return (void)ctx, type_has_flag(type_of(to_py(h)), TYPE_FLAG_BYTES_SUBCLASS);
}
/* They also serve as the entries without a check (GET_SIZE, AS_STRING), because the stable ABI has no cheaper
 * functions. */
static HPy_ssize_t bytes_size(HPyContext *ctx, HPy h) { return (void)ctx, PyBytes_Size(to_py(h)); }
static const char *bytes_as_string(HPyContext *ctx, HPy h) { return (void)ctx, PyBytes_AsString(to_py(h)); }
static HPy bytes_from_string(HPyContext *ctx, const char *s) { return (void)ctx, to_hpy(PyBytes_FromString(s)); }

static HPy bytes_from_string_and_size(HPyContext *ctx, const char *s, HPy_ssize_t byte_len) {
  (void)ctx;
  if (s == NULL) { /* CPython would return uninitialised bytes for the caller to fill, which HPy does not support */
    PyErr_SetString(PyExc_ValueError, "NULL char * passed to HPyBytes_FromStringAndSize");
    return HPy_NULL;
  }
  return to_hpy(PyBytes_FromStringAndSize(s, byte_len));
}

void fhpy_ctx_bytes_fill(HPyContext *ctx) {
  ctx->ctx_Bytes_Check = bytes_check;
  ctx->ctx_Bytes_Size = bytes_size;
  ctx->ctx_Bytes_GET_SIZE = bytes_size;
  ctx->ctx_Bytes_AsString = bytes_as_string;
  ctx->ctx_Bytes_AS_STRING = bytes_as_string;
  ctx->ctx_Bytes_FromString = bytes_from_string;
  ctx->ctx_Bytes_FromStringAndSize = bytes_from_string_and_size;
}
