/* Messages of mismatches: a block on the heap, which each addition replaces by a longer block. Additions happen while a
 * failure propagates, one per level of nesting, and the length of a message is limited (MOST_BYTES).
 *
 * If memory is exhausted, a message is lost or stays unchanged. A caller that finds NULL in place of a message raises
 * MemoryError, or a shorter message. */
#include "mismatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hpy_module/context/drop.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"

enum { MOST_BYTES = 16384 }; /* of a message: nesting and foreign messages are unlimited */

static void replace(FbMismatch *mismatch, char *text) {
  free(mismatch->text);
  mismatch->text = text;
}

/* Makes a string of the formatted one and `tail`, which is truncated if the result would be too long; NULL if memory is
 * exhausted. */
static char *format_before(const char *tail, const char *format, va_list list) {
  va_list again;
  va_copy(again, list);
  /* The arguments are formatted twice: to determine the length, and to write. */
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (n < 0) return NULL;
  size_t head_len = (size_t)n, tail_len = strlen(tail);
  tail_len = fb_cut_length(tail, tail_len, head_len < MOST_BYTES ? MOST_BYTES - head_len : 0);
  char *text = malloc(head_len + tail_len + 1);
  if (text == NULL) return NULL;
  vsnprintf(text, head_len + 1, format, list);
  memcpy(text + head_len, tail, tail_len);
  text[head_len + tail_len] = '\0';
  return text;
}

FbConverted fb_mismatch_set(FbMismatch *mismatch, const char *format, ...) {
  if (mismatch == NULL) return FB_MISMATCH;
  va_list list;
  va_start(list, format);
  replace(mismatch, format_before("", format, list));
  mismatch->is_outside_range = false;
  va_end(list);
  return FB_MISMATCH;
}

FbConverted fb_mismatch_prefix(FbMismatch *mismatch, const char *format, ...) {
  if (mismatch == NULL || mismatch->text == NULL) return FB_MISMATCH;
  va_list list;
  va_start(list, format);
  replace(mismatch, format_before(mismatch->text, format, list));
  va_end(list);
  return FB_MISMATCH;
}

FbConverted fb_mismatch_append(FbMismatch *mismatch, const char *between, const char *indent, const char *text,
                               size_t byte_len) {
  if (mismatch == NULL || mismatch->text == NULL) return FB_MISMATCH;
  byte_len = fb_cut_length(text, byte_len, MOST_BYTES);
  size_t head_len = strlen(mismatch->text), between_len = strlen(between), indent_len = strlen(indent), n_lines = 1;
  for (size_t i = 0; i < byte_len; ++i) n_lines += text[i] == '\n';
  char *all = malloc(head_len + between_len + n_lines * indent_len + byte_len + 1);
  if (all == NULL) return FB_MISMATCH;
  char *end = all;
  memcpy(end, mismatch->text, head_len);
  memcpy(end += head_len, between, between_len);
  memcpy(end += between_len, indent, indent_len);
  end += indent_len;
  for (size_t i = 0; i < byte_len; ++i) {
    *end++ = text[i];
    if (text[i] != '\n') continue;
    memcpy(end, indent, indent_len);
    end += indent_len;
  }
  *end = '\0';
  replace(mismatch, all);
  return FB_MISMATCH;
}

void fb_mismatch_free(FbMismatch *mismatch) { replace(mismatch, NULL); }

/* --- failures of other code --------------------------------------------------------------------------------------- */

/* Appends the message of an error object, which is stolen. Returns FB_MISMATCH. */
static FbConverted append_message(FbMismatch *mismatch, const char *between, const char *indent,
                                  TVMFFIObjectHandle error) {
  const TVMFFIByteArray *message = &TVMFFIErrorGetCellPtr(error)->message;
  if (message->size > 0) fb_mismatch_append(mismatch, between, indent, message->data, message->size);
  if (fb_error_is_kind(error, "OverflowError")) fb_mismatch_is_outside_range(mismatch);
  TVMFFIObjectDecRef(error);
  return FB_MISMATCH;
}

/* fb_mismatch_take_native on an attached thread. */
static FbConverted take_attached(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent) {
  FbPendingError pending = fb_error_slot_take(ctx);
  if (pending.payload == NULL && pending.error == NULL)
    return FB_RAISED; /* an exception is raised, or the error is missing */
  if (fb_translate_interrupts(ctx, &pending)) {
    fb_error_slot_put(pending);
    return FB_RAISED;
  }
  if (pending.payload == NULL) return append_message(mismatch, between, indent, pending.error);
  /* An exception that passed through native code unchanged. */
  uint64_t began = fb_error_moment();
  HPy exception = fb_py_owner_take(ctx, pending.payload);
  fb_ext->error_restore(ctx, exception);
  HPy_Close(ctx, exception);
  FbConverted converted = fb_mismatch_take_python(ctx, mismatch, between, indent);
  if (converted == FB_RAISED) fb_translate_raised(ctx, began);
  return converted;
}

FbConverted fb_mismatch_take_native(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent) {
  if (ctx != NULL) return take_attached(ctx, mismatch, between, indent);
  FbThread attach;
  /* the interpreter is finalizing: the error cannot be examined */
  if (fb_thread_attach(&attach) != 0) return FB_RAISED;
  FbRaised raised;
  fb_raised_take(&raised);
  FbConverted converted = take_attached(attach.ctx, mismatch, between, indent);
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return converted;
}

FbConverted fb_mismatch_take_python(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent) {
  if (!HPyErr_ExceptionMatches(ctx, ctx->h_Exception) || fb_error_is_exhaustion(ctx)) return FB_RAISED;
  if (HPyErr_ExceptionMatches(ctx, ctx->h_OverflowError)) fb_mismatch_is_outside_range(mismatch);
  HPy exception = fb_ext != NULL ? fb_ext->error_take(ctx) : HPy_NULL;
  if (fb_ext == NULL) HPyErr_Clear(ctx); /* other contexts cannot return it as a value: its message is lost */
  if (HPy_IsNull(exception)) return FB_MISMATCH;
  HPy text = mismatch == NULL ? HPy_NULL : HPy_Str(ctx, exception);
  HPy_Close(ctx, exception);
  HPy_ssize_t n;
  const char *data = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (data != NULL && n > 0) fb_mismatch_append(mismatch, between, indent, data, (size_t)n);
  FbConverted converted = fb_error_forget(ctx) ? FB_MISMATCH : FB_RAISED; /* its __str__ failed: nothing is appended */
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return converted;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Messages about native values that do not match a schema: "expected X, got Y".
 *
 * The messages are for Python users, so they name a value's type like TypeSchema does: short and long strings are both
 * "str", and a pointer is a "ctypes.c_void_p". */

const char *fb_refuse_describe(const TVMFFIAny *view) {
  switch (view->type_index) {
  case kTVMFFIDataType: return "dtype";
  case kTVMFFIOpaquePtr: return "ctypes.c_void_p";
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return "str";
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes:
  case kTVMFFIBytes: return "bytes";
  case kTVMFFIBigInt: return "int";
  default: break;
  }
  /* Any other type has its key as name; the key is valid for the life of the process. */
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(view->type_index);
  return info == NULL ? "a value of unknown type" : info->type_key.data;
}

FbConverted fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given) {
  return fb_mismatch_set(mismatch, "expected %s, got %s", schema->name, given);
}

FbConverted fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given) {
  return fb_mismatch_set(mismatch, "expected %s of length %d, got %s of length %lld", schema->name, (int)schema->n_args,
                         given, (long long)n_given);
}

const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch) {
  return mismatch != NULL && mismatch->given != NULL ? mismatch->given : fb_refuse_describe(view);
}

FbConverted fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  return mismatch == NULL ? FB_MISMATCH : fb_refuse_value(schema, mismatch, fb_refuse_name_of(view, mismatch));
}

FbConverted fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  /* The message comes first: the reason is appended to it. */
  fb_refuse_view(schema, view, mismatch);
  return fb_mismatch_take_native(NULL, mismatch, ": ", "");
}

FbConverted fb_refuse_no_memory(void) {
  TVMFFIErrorSetRaisedFromCStr("MemoryError", "out of memory");
  return FB_RAISED;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* An array of owned values with a fixed capacity. The count grows value by value, so that after a failure exactly the
 * existing values are released. */

int fb_values_begin(FbValues *values, int64_t n) {
  values->n = 0;
  /* A constructor of the core takes at most INT32_MAX arguments. malloc(0) may return NULL, so an empty array has room
   * for one. */
  values->data = n > INT32_MAX ? NULL : malloc((size_t)(n > 0 ? n : 1) * sizeof(values->data[0]));
  return values->data == NULL ? -1 : 0;
}

void fb_values_end(FbValues *values) {
  for (int32_t i = 0; i < values->n; ++i) fb_any_drop(&values->data[i]);
  free(values->data);
}

void fb_values_abandon(FbValues *values) {
  for (int32_t i = 0; i < values->n; ++i) fb_drop_any(&values->data[i], FB_DROP_UNKNOWN);
  free(values->data);
}
