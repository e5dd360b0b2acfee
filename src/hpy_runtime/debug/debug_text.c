/* Debug mode: entries that return strings. The extension gets a copy, which becomes unreadable when the handle is
 * closed (debug_pages.c). */
#include "debug_entries.h"
#include "debug_handle.h"
#include "hpy_runtime/context/context.h"

static HPyContext *const real = &fhpy_context.base;

/* The copy needs the size, so it is requested even if the extension does not request it. One more byte is copied: the
 * NUL. */
static const char *unicode_as_utf8_and_size(HPyContext *ctx, HPy h, HPy_ssize_t *byte_len) {
  (void)ctx;
  HPy_ssize_t n = 0;
  const char *text = real->ctx_Unicode_AsUTF8AndSize(real, debug_unwrap(h, "Unicode_AsUTF8AndSize"), &n);
  if (text != NULL && byte_len != NULL) *byte_len = n;
  return fhpy_debug_record_keep_text(h, text, (size_t)n + 1);
}

static const char *bytes_text(HPy h, const char *entry) {
  HPy bytes = debug_unwrap(h, entry);
  const char *text = real->ctx_Bytes_AsString(real, bytes);
  return text != NULL ? fhpy_debug_record_keep_text(h, text, (size_t)real->ctx_Bytes_Size(real, bytes) + 1) : NULL;
}
static const char *bytes_as_string(HPyContext *ctx, HPy h) { return (void)ctx, bytes_text(h, "Bytes_AsString"); }
static const char *bytes_as_string_unchecked(HPyContext *ctx, HPy h) {
  return (void)ctx, bytes_text(h, "Bytes_AS_STRING");
}

void fhpy_debug_text_fill(HPyContext *ctx) {
  ctx->ctx_Unicode_AsUTF8AndSize = unicode_as_utf8_and_size;
  ctx->ctx_Bytes_AsString = bytes_as_string;
  ctx->ctx_Bytes_AS_STRING = bytes_as_string_unchecked;
}
