/* Keyword arguments of the binding's functions. */
#pragma once

#include "call.h"
#include "context.h"

/* The keyword arguments that a function accepts. `interned` is NULL, or has room for each name; fb_keywords_intern then
 * fills it once during the import, so that most names are recognised by their pointers. */
typedef struct FbKeywords {
  const char *callee;
  const char *const *names;
  int n;
  FbRef *interned;
} FbKeywords;

/* Fills an empty reference with the interned str of `name`, a str. Returns 0, or -1 with an exception raised. */
int fb_keywords_intern_name(HPyContext *ctx, HPy name, FbRef *interned);
/* Fills `interned`. Returns 0, or -1 with an exception raised. */
int fb_keywords_intern(HPyContext *ctx, const FbKeywords *keywords);
int fb_keywords_find_text(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i);
/* Returns the index of the i'th name in kwnames; -1 with TypeError raised if the function does not accept it. Compares
 * the handles directly: where fb_context_tuple_items is known, an FbRef is a handle. */
FH_INLINE int fb_keywords_find(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i) {
  if (FH_LIKELY(keywords->interned != NULL && fb_context_tuple_items != 0)) {
    HPy name = fb_tuple_item(kwnames, i);
    for (int found = 0; found < keywords->n; ++found) {
      if (keywords->interned[found].handle._i == name._i) return found;
    }
  }
  return fb_keywords_find_text(ctx, keywords, kwnames, i);
}
/* Sorts the arguments of a call into the order of the names. `given` has room for all of them and gets borrowed
 * handles, or HPy_NULL for an argument that was not given. The first `n_required` arguments must be given. Returns 0,
 * or -1 with TypeError raised. */
int fb_keywords_bind(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args, size_t nargs,
                     HPy kwnames, HPy *given);
/* Like fb_keywords_bind(), for a function with one argument, which nearly every call passes by position. */
FH_INLINE int fb_keywords_bind_one(HPyContext *ctx, const FbKeywords *keywords, const HPy *args, size_t nargs,
                                   HPy kwnames, HPy *given) {
  if (FH_UNLIKELY(nargs != 1 || !HPy_IsNull(kwnames)))
    return fb_keywords_bind(ctx, keywords, 1, args, nargs, kwnames, given);
  *given = args[0];
  return 0;
}
/* Like fb_keywords_bind(), for a call of a class, whose keyword arguments are a dict or HPy_NULL. The handles in
 * `given` are new; fb_keywords_close() closes them. After a failure there are none. */
int fb_keywords_bind_dict(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args,
                          HPy_ssize_t nargs, HPy kw, HPy *given);
void fb_keywords_close(HPyContext *ctx, const FbKeywords *keywords, HPy *given);
