/* The frequent operations on Python objects: attributes, items, length, append, next, and calls by position. */
#include "operation.h"

#include <string.h>

#include "hpy_module/context/call.h"

/* The result of a function that returns 0, or -1 with an exception raised. */
static HPy none_or_null(HPyContext *ctx, int rc) { return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL; }

static bool get_attribute(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  *out = HPy_GetAttr(ctx, args[0], args[1]);
  return true;
}
static bool set_attribute(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  *out = none_or_null(ctx, HPy_SetAttr(ctx, args[0], args[1], args[2]));
  return true;
}
static bool get_item(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  *out = HPy_GetItem(ctx, args[0], args[1]);
  return true;
}
static bool set_item(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  *out = none_or_null(ctx, HPy_SetItem(ctx, args[0], args[1], args[2]));
  return true;
}
static bool get_length(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  HPy_ssize_t length = HPy_Length(ctx, args[0]);
  *out = length < 0 ? HPy_NULL : HPyLong_FromSsize_t(ctx, length);
  return true;
}
static bool append(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  if (!HPyList_Check(ctx, args[0])) return false; /* the package raises the TypeError */
  *out = none_or_null(ctx, HPyList_Append(ctx, args[0], args[1]));
  return true;
}

/* Both are written once during the import of _bind. */
static FbRef next_function, end_mark; /* the builtin, and an object for its second argument */

/* A list of the next item, or None at the end. */
static bool get_next(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  (void)n;
  HPy function = fb_ref_borrow(ctx, &next_function), end = fb_ref_borrow(ctx, &end_mark);
  const HPy both[] = {args[0], end};
  HPy item = fb_call(ctx, function, both, 2, HPy_NULL);
  bool is_over = !HPy_IsNull(item) && fb_context_is_same(ctx, item, end);
  fb_ref_return(ctx, function);
  fb_ref_return(ctx, end);
  *out = HPy_IsNull(item) ? HPy_NULL : is_over ? HPy_Dup(ctx, ctx->h_None) : HPyList_New(ctx, 0);
  if (!HPy_IsNull(*out) && !is_over && HPyList_Append(ctx, *out, item) != 0) {
    HPy_Close(ctx, *out);
    *out = HPy_NULL;
  }
  if (!HPy_IsNull(item)) HPy_Close(ctx, item);
  return true;
}

/* args: a callable, a str with the letter p for each argument by position, and the arguments. */
static bool call(HPyContext *ctx, const HPy *args, size_t n, HPy *out) {
  HPy_ssize_t n_kinds;
  if (!HPyUnicode_Check(ctx, args[1])) return false;
  const char *kinds = HPyUnicode_AsUTF8AndSize(ctx, args[1], &n_kinds);
  if (kinds == NULL || (size_t)n_kinds != n - 2) return false;
  for (size_t i = 0; i < n - 2; ++i) {
    if (kinds[i] != 'p') return false; /* the package reads names, tuples and dicts */
  }
  *out = fb_call(ctx, args[0], args + 2, n - 2, HPy_NULL);
  return true;
}

FbOperation fb_operation_find(const TVMFFIAny *name, int32_t n) {
  static const struct {
    char name[8]; /* as in a short string */
    int32_t least, most; /* numbers of arguments */
    FbOperation run;
  } operations[] = {{"getattr", 2, 2, get_attribute}, {"getitem", 2, 2, get_item}, {"append", 2, 2, append},
                    {"call", 2, INT32_MAX, call},     {"setitem", 3, 3, set_item}, {"setattr", 3, 3, set_attribute},
                    {"len", 1, 1, get_length},        {"next", 1, 1, get_next}};
  if (name->type_index != kTVMFFISmallStr) return NULL;
  for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); ++i) {
    if (memcmp(operations[i].name, name->v_bytes, sizeof(name->v_bytes)) != 0) continue;
    return n >= operations[i].least && n <= operations[i].most ? operations[i].run : NULL;
  }
  return NULL;
}

int fb_operation_init(HPyContext *ctx) {
  HPy builtins = HPyImport_ImportModule(ctx, "builtins");
  HPy next = HPy_IsNull(builtins) ? HPy_NULL : HPy_GetAttr_s(ctx, builtins, "next");
  HPy mark = HPy_IsNull(next) ? HPy_NULL : HPyList_New(ctx, 0); /* a list is equal to others, and the same as none */
  if (!HPy_IsNull(mark)) {
    fb_ref_store(ctx, &next_function, next);
    fb_ref_store(ctx, &end_mark, mark);
  }
  bool is_done = !HPy_IsNull(mark);
  const HPy handles[] = {builtins, next, mark};
  for (size_t i = 0; i < 3; ++i) {
    if (!HPy_IsNull(handles[i])) HPy_Close(ctx, handles[i]);
  }
  return is_done ? 0 : -1;
}
