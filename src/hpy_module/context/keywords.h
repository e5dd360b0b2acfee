/* Keyword arguments of the binding's functions. */
#ifndef FFI_HPY_CONTEXT_KEYWORDS_H_
#define FFI_HPY_CONTEXT_KEYWORDS_H_

#include "ref.h"

/* The names of the keyword arguments that a function takes. `interned` is NULL, or has room for each of them, and
 * fb_keywords_intern was called once during the import: then a name is mostly known by its address. */
typedef struct FbKeywords {
  const char *callee;
  const char *const *names;
  int n;
  FbRef *interned;
} FbKeywords;

/* Fills `interned`. Returns 0, or -1 with an exception raised. */
int fb_keywords_intern(HPyContext *ctx, const FbKeywords *keywords);
/* Which of them the i'th name in kwnames is; -1 with TypeError raised if it is none. */
int fb_keywords_find(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i);

#endif /* FFI_HPY_CONTEXT_KEYWORDS_H_ */
