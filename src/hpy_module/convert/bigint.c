/* Integers beyond 64 bits, converted by int.to_bytes and int.from_bytes. Both sides use two's complement. The core
 * stores words in the machine's byte order; Python delivers the least significant byte first. */
#include "bigint.h"

#include <stdlib.h>

#include "hpy_module/context/call.h"
#include "hpy_module/error/error.h"

enum { WORD_SIZE = 8, WORD_BITS = 64 };

/* Converts bytes, least significant first, to words in the machine's byte order. The function is its own inverse. */
static void bytes_to_words(char *words, const char *bytes, size_t byte_len) {
  for (size_t at = 0; at < byte_len; at += WORD_SIZE) {
    uint64_t word = 0;
    for (int i = WORD_SIZE; i-- > 0;) word = word << 8 | (unsigned char)bytes[at + (size_t)i];
    memcpy(words + at, &word, WORD_SIZE);
  }
}

/* Calls int.<name>(first, second, "little", signed=True), without `second` if it is null. Steals `second`. The method
 * is looked up in int itself, because a subclass may override it. */
static HPy call_signed(HPyContext *ctx, const char *name, HPy first, HPy second) {
  HPy method = HPy_GetAttr_s(ctx, ctx->h_LongType, name);
  HPy order = HPyUnicode_FromString(ctx, "little");
  HPy keyword = HPyUnicode_FromString(ctx, "signed");
  HPy names = HPy_IsNull(keyword) ? HPy_NULL : HPyTuple_FromArray(ctx, &keyword, 1);
  HPy result = HPy_NULL;
  if (!HPy_IsNull(method) && !HPy_IsNull(order) && !HPy_IsNull(names)) {
    /* The keyword argument comes last; its name is in `names`. */
    HPy args[4] = {first};
    size_t n = 1;
    if (!HPy_IsNull(second)) args[n++] = second;
    args[n++] = order;
    args[n] = ctx->h_True;
    result = fb_call(ctx, method, args, n, names);
  }
  HPy opened[] = {method, order, keyword, names, second};
  for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); ++i) {
    if (!HPy_IsNull(opened[i])) HPy_Close(ctx, opened[i]);
  }
  return result;
}

/* Returns the number of bytes for the number and its sign, rounded up to whole words; 0 with an exception raised. */
static size_t byte_len_of(HPyContext *ctx, HPy number) {
  HPy method = HPy_GetAttr_s(ctx, ctx->h_LongType, "bit_length");
  HPy answer = HPy_IsNull(method) ? HPy_NULL : fb_call_one(ctx, method, number);
  if (!HPy_IsNull(method)) HPy_Close(ctx, method);
  if (HPy_IsNull(answer)) return 0;
  HPy_ssize_t n_bits = HPyLong_AsSsize_t(ctx, answer);
  HPy_Close(ctx, answer);
  return n_bits < 0 ? 0 : ((size_t)n_bits / WORD_BITS + 1) * WORD_SIZE;
}

/* Makes an owned value from whole words of bytes, least significant first. */
static int value_of(HPyContext *ctx, const char *bytes, size_t byte_len, TVMFFIAny *out, const char *callee) {
  char *words = malloc(byte_len);
  if (words == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  bytes_to_words(words, bytes, byte_len);
  TVMFFIByteArray content = {words, byte_len};
  int rc = TVMFFIBigIntFromByteArray(&content, out);
  free(words);
  if (rc != 0) fb_error_raise_pending(ctx, callee);
  return rc == 0 ? 0 : -1;
}

int fb_bigint_from_python(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee) {
  /* The methods of int need an int, so `value` is converted first. */
  HPy number = HPy_Index(ctx, value);
  if (HPy_IsNull(number)) return -1;
  size_t byte_len = byte_len_of(ctx, number);
  HPy length = byte_len == 0 ? HPy_NULL : HPyLong_FromSize_t(ctx, byte_len);
  HPy bytes = HPy_IsNull(length) ? HPy_NULL : call_signed(ctx, "to_bytes", number, length);
  HPy_Close(ctx, number);
  if (HPy_IsNull(bytes)) return -1;
  const char *data = HPyBytes_AsString(ctx, bytes);
  int rc = data == NULL ? -1 : value_of(ctx, data, byte_len, out, callee);
  HPy_Close(ctx, bytes);
  return rc;
}

HPy fb_bigint_to_python(HPyContext *ctx, TVMFFIObject *handle) {
  TVMFFIAny value = {.type_index = handle->type_index};
  value.v_obj = handle;
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(&value);
  char *reordered = malloc(content.size);
  if (reordered == NULL) return HPyErr_NoMemory(ctx);
  bytes_to_words(reordered, content.data, content.size);
  HPy bytes = HPyBytes_FromStringAndSize(ctx, reordered, (HPy_ssize_t)content.size);
  free(reordered);
  if (HPy_IsNull(bytes)) return HPy_NULL;
  HPy result = call_signed(ctx, "from_bytes", bytes, HPy_NULL);
  HPy_Close(ctx, bytes);
  return result;
}
