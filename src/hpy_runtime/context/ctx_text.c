/* Context entries: str. Each passes its arguments on to the interpreter's function of the same name. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static int unicode_check(HPyContext *ctx, HPy h) {
  return (void)ctx, type_has_flag(type_of(to_py(h)), TYPE_FLAG_UNICODE_SUBCLASS);
}
static HPy unicode_from_string(HPyContext *ctx, const char *utf8) {
  return (void)ctx, to_hpy(PyUnicode_FromString(utf8));
}
static HPy unicode_from_wide(HPyContext *ctx, const wchar_t *w, HPy_ssize_t n) {
  return (void)ctx, to_hpy(PyUnicode_FromWideChar(w, n));
}
static HPy unicode_as_ascii(HPyContext *ctx, HPy h) { return (void)ctx, to_hpy(PyUnicode_AsASCIIString(to_py(h))); }
static HPy unicode_as_latin1(HPyContext *ctx, HPy h) { return (void)ctx, to_hpy(PyUnicode_AsLatin1String(to_py(h))); }
static HPy unicode_as_utf8(HPyContext *ctx, HPy h) { return (void)ctx, to_hpy(PyUnicode_AsUTF8String(to_py(h))); }
/* The string data is borrowed: it belongs to the str and lives as long as the str. */
static const char *unicode_as_utf8_and_size(HPyContext *ctx, HPy h, HPy_ssize_t *byte_len) {
  return (void)ctx, PyUnicode_AsUTF8AndSize(to_py(h), byte_len);
}
static HPy unicode_decode_fs(HPyContext *ctx, const char *s) { return (void)ctx, to_hpy(PyUnicode_DecodeFSDefault(s)); }
static HPy unicode_decode_fs_and_size(HPyContext *ctx, const char *s, HPy_ssize_t byte_len) {
  return (void)ctx, to_hpy(PyUnicode_DecodeFSDefaultAndSize(s, byte_len));
}
static HPy unicode_encode_fs(HPyContext *ctx, HPy h) { return (void)ctx, to_hpy(PyUnicode_EncodeFSDefault(to_py(h))); }
static HPy_UCS4 unicode_read_char(HPyContext *ctx, HPy h, HPy_ssize_t i) {
  return (void)ctx, PyUnicode_ReadChar(to_py(h), i);
}
static HPy unicode_decode_ascii(HPyContext *ctx, const char *s, HPy_ssize_t byte_len, const char *errors) {
  return (void)ctx, to_hpy(PyUnicode_DecodeASCII(s, byte_len, errors));
}
static HPy unicode_decode_latin1(HPyContext *ctx, const char *s, HPy_ssize_t byte_len, const char *errors) {
  return (void)ctx, to_hpy(PyUnicode_DecodeLatin1(s, byte_len, errors));
}
static HPy unicode_from_encoded(HPyContext *ctx, HPy o, const char *encoding, const char *errors) {
  return (void)ctx, to_hpy(PyUnicode_FromEncodedObject(to_py(o), encoding, errors));
}
static HPy unicode_substring(HPyContext *ctx, HPy s, HPy_ssize_t start, HPy_ssize_t end) {
  return (void)ctx, to_hpy(PyUnicode_Substring(to_py(s), start, end));
}

void fhpy_ctx_unicode_fill(HPyContext *ctx) {
  ctx->ctx_Unicode_Check = unicode_check;
  ctx->ctx_Unicode_FromString = unicode_from_string;
  ctx->ctx_Unicode_FromWideChar = unicode_from_wide;
  ctx->ctx_Unicode_AsASCIIString = unicode_as_ascii;
  ctx->ctx_Unicode_AsLatin1String = unicode_as_latin1;
  ctx->ctx_Unicode_AsUTF8String = unicode_as_utf8;
  ctx->ctx_Unicode_AsUTF8AndSize = unicode_as_utf8_and_size;
  ctx->ctx_Unicode_DecodeFSDefault = unicode_decode_fs;
  ctx->ctx_Unicode_DecodeFSDefaultAndSize = unicode_decode_fs_and_size;
  ctx->ctx_Unicode_EncodeFSDefault = unicode_encode_fs;
  ctx->ctx_Unicode_ReadChar = unicode_read_char;
  ctx->ctx_Unicode_DecodeASCII = unicode_decode_ascii;
  ctx->ctx_Unicode_DecodeLatin1 = unicode_decode_latin1;
  ctx->ctx_Unicode_FromEncodedObject = unicode_from_encoded;
  ctx->ctx_Unicode_Substring = unicode_substring;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

/* Context entries: bytes. The data of a bytes object is borrowed: it lives as long as the object. */

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
