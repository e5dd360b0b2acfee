/* Conversion between str and UTF-8.
 *
 * HPy 0.9 has one function for each direction: HPyUnicode_AsUTF8AndSize and HPyUnicode_FromString. The rest of this
 * file handles lone surrogates, NUL bytes, malformed UTF-8, and messages that name the argument. */
#include "text.h"

#include <stdio.h>

#include "call.h"
#include "messages.h"
#include "raise.h"

/* PyPy stores strings as UTF-8 with encoded lone surrogates, and returns this data unchanged. An encoded surrogate is
 * ED with a second byte from A0 to BF; after ED a smaller byte belongs to U+D000 to U+D7FF. */
static bool has_surrogate(const char *data, HPy_ssize_t n) {
  const char *end = data + n;
  while ((data = memchr(data, 0xED, (size_t)(end - data))) != NULL) {
    if (++data < end && (unsigned char)*data >= 0xA0) return true;
  }
  return false;
}

/* Returns the index of the first lone surrogate; 0 if there is none. Reads character by character, because HPy 0.9 has
 * no search; only messages need it. */
static HPy_ssize_t surrogate_find(HPyContext *ctx, HPy text) {
  HPy_ssize_t n = HPy_Length(ctx, text);
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy_UCS4 c = HPyUnicode_ReadChar(ctx, text, i);
    if (c >= 0xD800 && c <= 0xDFFF) return i;
  }
  return 0;
}

const char *fb_text_get(HPyContext *ctx, HPy h, HPy_ssize_t *byte_len) {
  const char *data = HPyUnicode_AsUTF8AndSize(ctx, h, byte_len);
  if (fb_ext != NULL || data == NULL || !has_surrogate(data, *byte_len)) return data;
  fb_text_refuse(ctx, h, NULL);
  return NULL;
}

/* Calls with arguments and steals them. Returns HPy_NULL if one of them is HPy_NULL. */
static HPy call_take(HPyContext *ctx, HPy callable, const HPy *args, size_t n) {
  bool complete = true;
  for (size_t i = 0; i < n; ++i) complete = complete && !HPy_IsNull(args[i]);
  HPy result = complete ? fb_call(ctx, callable, args, n, HPy_NULL) : HPy_NULL;
  for (size_t i = 0; i < n; ++i) {
    if (!HPy_IsNull(args[i])) HPy_Close(ctx, args[i]);
  }
  return result;
}

/* The context's own UnicodeEncodeError does not name the argument, so this function replaces it. Other exceptions
 * stay. */
int fb_text_refuse(HPyContext *ctx, HPy h, const char *where) {
  if (HPyErr_Occurred(ctx)) {
    if (where == NULL || !HPyErr_ExceptionMatches(ctx, ctx->h_UnicodeEncodeError)) return -1;
    HPyErr_Clear(ctx);
  }
  char reason[320];
  snprintf(reason, sizeof(reason), "%s%s" FB_MESSAGE_SURROGATES, where == NULL ? "" : where, where == NULL ? "" : ": ");
  HPy_ssize_t at = surrogate_find(ctx, h);
  /* UnicodeEncodeError(encoding, object, start, end, reason) */
  HPy parts[5] = {HPyUnicode_FromString(ctx, "utf-8"), HPy_Dup(ctx, h), HPyLong_FromSsize_t(ctx, at),
                  HPyLong_FromSsize_t(ctx, at + 1), HPyUnicode_FromString(ctx, reason)};
  HPy exception = call_take(ctx, ctx->h_UnicodeEncodeError, parts, 5);
  if (HPy_IsNull(exception)) return -1;
  HPyErr_SetObject(ctx, ctx->h_UnicodeEncodeError, exception);
  HPy_Close(ctx, exception);
  return -1;
}

const char *fb_text_arg(HPyContext *ctx, HPy h, const char *what, HPy_ssize_t *byte_len) {
  if (HPyUnicode_Check(ctx, h)) return fb_text_get(ctx, h, byte_len);
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_A_STR, what, fb_attr_type_name(ctx, h, given, sizeof(given)));
  return NULL;
}

static bool is_ascii(const char *data, size_t byte_len) {
  unsigned char bits = 0;
  for (size_t i = 0; i < byte_len; ++i) bits |= (unsigned char)data[i];
  return bits < 0x80;
}

/* bytes.decode("utf-8", "replace"): new handle, or HPy_NULL with an exception raised. */
static HPy decode(HPyContext *ctx, HPy bytes) {
  HPy method = HPy_GetAttr_s(ctx, bytes, "decode");
  if (HPy_IsNull(method)) return HPy_NULL;
  HPy parts[2] = {HPyUnicode_FromString(ctx, "utf-8"), HPyUnicode_FromString(ctx, "replace")};
  HPy text = call_take(ctx, method, parts, 2);
  HPy_Close(ctx, method);
  return text;
}

static HPy (*new_text)(const char *data, HPy_ssize_t byte_len); /* from the extension; written once during the import */

void fb_text_init(void) {
  if (fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, text_new)) new_text = fb_ext->text_new;
}

void fb_text_class_made(HPy cls) {
  if (fb_ext == NULL || !FHPY_EXTENSION_HAS(fb_ext, text_class_made)) return;
  if (fb_ext->text_class_made != NULL) fb_ext->text_class_made(cls);
}

/* Makes an empty text, or any text without the extension. */
static FH_NOINLINE HPy new_other(HPyContext *ctx, const char *data, size_t byte_len) {
  if (byte_len == 0) return HPyUnicode_FromString(ctx, ""); /* data may be NULL */
  /* HPy has no constructor from UTF-8 with a length. HPyUnicode_FromString handles strings without a NUL inside and
   * with a NUL at the end; on PyPy 7.3 only ASCII, because the function crashes on malformed data there. All other
   * strings are converted through a bytes object, which costs one more copy. */
  bool is_terminated = memchr(data, 0, byte_len) == NULL && data[byte_len] == 0;
  if (is_terminated && (fb_ext != NULL || is_ascii(data, byte_len))) {
    HPy text = HPyUnicode_FromString(ctx, data);
    if (!HPy_IsNull(text) || HPyErr_ExceptionMatches(ctx, ctx->h_MemoryError)) return text;
    HPyErr_Clear(ctx); /* malformed: convert again, with replacement */
  }
  HPy bytes = HPyBytes_FromStringAndSize(ctx, data, (HPy_ssize_t)byte_len);
  if (HPy_IsNull(bytes)) return HPy_NULL;
  HPy text = decode(ctx, bytes);
  HPy_Close(ctx, bytes);
  return text;
}

HPy fb_text_new(HPyContext *ctx, const char *data, size_t byte_len) {
  if (FH_LIKELY(byte_len != 0 && new_text != NULL)) return new_text(data, (HPy_ssize_t)byte_len);
  return new_other(ctx, data, byte_len);
}
