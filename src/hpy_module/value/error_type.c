/* The class Error: a native error object, as a value. The attributes of Error read the cell after the object's header,
 * whose layout is part of the ABI. error/ and the package make exceptions from it. */
#include "value.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/transfer.h"

enum { N_PARTS = 5 }; /* kind, message, backtrace, cause, extra_context */

/* Reads an optional argument: the owned handle, or NULL for None or a missing argument. Returns 0, or -1 with TypeError
 * raised. */
static int optional_handle(HPyContext *ctx, HPy value, const char *what, TVMFFIObject **out) {
  *out = NULL;
  if (HPy_IsNull(value) || HPy_Is(ctx, value, ctx->h_None)) return 0;
  *out = fb_object_take(ctx, value);
  if (*out != NULL) return 0;
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, "Error() argument '%s' must be an object or None, not %s", what,
           fb_attr_type_name(ctx, value, given, sizeof(given)));
  return -1;
}

/* Reads the optional arguments of Error(); both results are owned. Returns 0, or -1 with TypeError raised. */
static int context_args(HPyContext *ctx, const HPy parts[N_PARTS], TVMFFIObject *out[2]) {
  out[0] = out[1] = NULL;
  if (optional_handle(ctx, parts[3], "cause", &out[0]) != 0) return -1;
  if (out[0] != NULL && out[0]->type_index != kTVMFFIError) {
    char given[128];
    fb_raise(ctx, ctx->h_TypeError, "Error() argument 'cause' must be an Error or None, not %s",
             fb_attr_type_name(ctx, parts[3], given, sizeof(given)));
    return -1;
  }
  return optional_handle(ctx, parts[4], "extra_context", &out[1]);
}

/* Makes a native error from its parts and stores it in self. */
static int init(HPyContext *ctx, HPy self, const HPy parts[N_PARTS]) {
  static const char *const what[] = {"Error() argument 'kind'", "Error() argument 'message'",
                                     "Error() argument 'backtrace'"};
  /* The strings belong to the arguments, which the caller holds; the new error copies them. */
  TVMFFIByteArray text[3];
  for (int i = 0; i < 3; ++i) {
    HPy_ssize_t n;
    text[i].data = fb_text_arg(ctx, parts[i], what[i], &n);
    if (text[i].data == NULL) return -1;
    text[i].size = (size_t)n;
  }
  /* Cause and extra context: the new error takes its own references. */
  TVMFFIObject *context[2];
  TVMFFIObjectHandle made = NULL;
  int rc = context_args(ctx, parts, context);
  /* The parts are checked, so the only possible failure is exhausted memory. */
  if (rc == 0 &&
      TVMFFIErrorCreateWithCauseAndExtraContext(&text[0], &text[1], &text[2], context[0], context[1], &made)) {
    HPyErr_NoMemory(ctx);
    rc = -1;
  }
  for (int i = 0; i < 2; ++i) {
    fb_drop_object(context[i], rc);
  }
  return rc == 0 ? fb_transfer_put(ctx, self, made) : -1;
}

/* Error(kind, message, backtrace[, cause[, extra_context]]): makes a native error and stores it in self. */
HPyDef_SLOT(error_init, HPy_tp_init)
static int error_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  static const char *const names[] = {"kind", "message", "backtrace", "cause", "extra_context"};
  static const FbKeywords keywords = {"Error", names, N_PARTS, NULL};
  HPy parts[N_PARTS];
  if (fb_keywords_bind_dict(ctx, &keywords, 3, args, nargs, kw, parts) != 0) return -1;
  int rc = init(ctx, self, parts);
  fb_keywords_close(ctx, &keywords, parts);
  return rc;
}

/* Reads an immutable string at an offset of the cell. */
static HPy read_text(HPyContext *ctx, HPy self, size_t offset) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (cell == NULL) return HPy_NULL;
  const TVMFFIByteArray *text = (const TVMFFIByteArray *)((const char *)TVMFFIErrorGetCellPtr(cell->handle) + offset);
  HPy result = fb_text_new(ctx, text->data, text->size);
  fb_handle_cell_unuse(cell);
  return result;
}

/* Reads the cause or the extra context; NULL becomes None. */
static HPy read_object(HPyContext *ctx, HPy self, bool is_cause) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (cell == NULL) return HPy_NULL;
  const TVMFFIErrorCell *error = TVMFFIErrorGetCellPtr(cell->handle);
  /* acquire: pairs with context_of in visit_context.c */
  TVMFFIObjectHandle handle = is_cause ? error->cause_chain : fh_atomic_load_acquire(&error->extra_context);
  if (ffi_hpy_is_class_places(handle)) handle = NULL; /* only the binding reads it */
  /* The conversion may run Python code that gives self another handle, so the object needs its own reference. */
  if (handle != NULL) TVMFFIObjectIncRef(handle);
  fb_handle_cell_unuse(cell);
  return handle == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_result_of_object(ctx, handle);
}

FB_GETTER(error_kind, "kind", read_text(ctx, self, offsetof(TVMFFIErrorCell, kind)),
          "Kind of the error: the name of an exception class.")
FB_GETTER(error_message, "message", read_text(ctx, self, offsetof(TVMFFIErrorCell, message)),
          "The message of the error.")
HPyDef_GET(error_backtrace, "backtrace",
           .doc = "Frames, most recent call first, each ``  File \"f\", line N, in fn`` and a newline.")
static HPy error_backtrace_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (cell == NULL) return HPy_NULL;
  /* A copy, because making the str may run any code. */
  fb_error_lock_backtraces();
  const TVMFFIByteArray *text = &TVMFFIErrorGetCellPtr(cell->handle)->backtrace;
  size_t n = text->size;
  char *copy = malloc(n + 1);
  if (copy != NULL && n != 0) memcpy(copy, text->data, n);
  fb_error_unlock_backtraces();
  fb_handle_cell_unuse(cell);
  HPy result = copy == NULL ? HPyErr_NoMemory(ctx) : fb_text_new(ctx, copy, n);
  free(copy);
  return result;
}

FB_GETTER(error_cause, "cause", read_object(ctx, self, true), "The error that led to this one, or None.")
FB_GETTER(error_extra, "extra_context", read_object(ctx, self, false), "A value attached to the error, or None.")

FB_METHOD_KEYWORDS(error_update, "update_backtrace",
                   "update_backtrace($self, backtrace, append=False)\n--\n\n"
                   "Replace the backtrace, or append to it.\n\n"
                   "Args:\n"
                   "    backtrace: the text.\n"
                   "    append: whether to keep the existing text and add this one behind it.") {
  static const char *const names[] = {"backtrace", "append"};
  static const FbKeywords keywords = {"update_backtrace", names, 2, NULL};
  HPy given[2];
  if (fb_keywords_bind(ctx, &keywords, 1, args, nargs, kwnames, given) != 0) return HPy_NULL;
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, given[0], "update_backtrace() argument 1", &n);
  if (text == NULL) return HPy_NULL;
  int append = HPy_IsNull(given[1]) ? 0 : HPy_IsTrue(ctx, given[1]);
  if (append < 0) return HPy_NULL;
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (cell == NULL) return HPy_NULL;
  TVMFFIByteArray bytes = {text, (size_t)n};
  fb_error_update_backtrace(cell->handle, &bytes, append != 0);
  fb_handle_cell_unuse(cell);
  return HPy_Dup(ctx, ctx->h_None);
}

FB_OBJECT_CLASS(error)

/* The last but one entry of `defines` is room for the slot that fb_object_type_derive may append. */
HPy fb_error_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&error_new,   &error_init,  &error_kind,   &error_message, &error_backtrace,
                              &error_cause, &error_extra, &error_update, NULL,           NULL};
  return fb_object_type_plain(ctx, "ffi_hpy._core.Error", "A native error value (not an exception).", defines, base,
                              &error_type);
}
