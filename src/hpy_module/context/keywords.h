/* Keyword arguments of the binding's functions. */
#ifndef FFI_HPY_CONTEXT_KEYWORDS_H_
#define FFI_HPY_CONTEXT_KEYWORDS_H_

#include "ref.h"
#include "tuple.h"

/* The names of the keyword arguments that a function takes. `interned` is NULL, or has room for each of them, and
 * fb_keywords_intern was called once during the import: then a name is mostly known by its address. */
typedef struct FbKeywords {
  const char *callee;
  const char *const *names;
  int n;
  FbRef *interned;
} FbKeywords;

/* Fills an empty reference with the str that the interpreter has for all names like `name`, a str. Returns 0, or -1
 * with an exception raised. */
int fb_keywords_intern_name(HPyContext *ctx, HPy name, FbRef *interned);
/* Fills `interned`. Returns 0, or -1 with an exception raised. */
int fb_keywords_intern(HPyContext *ctx, const FbKeywords *keywords);
int fb_keywords_find_text(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i);
/* Which of them the i'th name in kwnames is; -1 with TypeError raised if it is none. Reads the handles as they are:
 * where fb_context_tuple_items is known, an FbRef is simply a handle. */
FH_INLINE int fb_keywords_find(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i) {
  if (FH_LIKELY(keywords->interned != NULL && fb_context_tuple_items != 0)) {
    HPy name = fb_tuple_item(kwnames, i);
    for (int found = 0; found < keywords->n; found++) {
      if (keywords->interned[found].handle._i == name._i) return found;
    }
  }
  return fb_keywords_find_text(ctx, keywords, kwnames, i);
}
/* Puts the arguments of a call into the order of the names. `given`, with room for all of them, borrows; it has
 * HPy_NULL where none was given, which the first `n_required` may not be. Returns 0, or -1 with TypeError raised. */
int fb_keywords_bind(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args, size_t nargs,
                     HPy kwnames, HPy *given);
/* As fb_keywords_bind(), for a function of one argument, which nearly every call gives by position. */
FH_INLINE int fb_keywords_bind_one(HPyContext *ctx, const FbKeywords *keywords, const HPy *args, size_t nargs,
                                   HPy kwnames, HPy *given) {
  if (FH_UNLIKELY(nargs != 1 || !HPy_IsNull(kwnames)))
    return fb_keywords_bind(ctx, keywords, 1, args, nargs, kwnames, given);
  *given = args[0];
  return 0;
}
/* As fb_keywords_bind(), for a call of a class, whose keyword arguments come in a dict, or as HPy_NULL. The handles in
 * `given` are new: fb_keywords_close() closes them. After a failure there are none. */
int fb_keywords_bind_dict(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args,
                          HPy_ssize_t nargs, HPy kw, HPy *given);
void fb_keywords_close(HPyContext *ctx, const FbKeywords *keywords, HPy *given);

#endif /* FFI_HPY_CONTEXT_KEYWORDS_H_ */
