/* Keyword arguments: which of a function's names a call uses.
 *
 * CPython interns the names that are written in a call. So a name of the call is mostly the very object that
 * fb_keywords_intern got, and comparing addresses finds it without looking at text. Names are compared as text where
 * that fails, and where handles are no addresses. */
#include "keywords.h"

#include "call.h"
#include "cut.h"
#include "raise.h"
#include "text.h"
#include "tuple.h"

int fb_keywords_intern(HPyContext *ctx, const FbKeywords *keywords) {
  /* HPy 0.9 has no function for it: sys.intern(). */
  HPy sys = HPyImport_ImportModule(ctx, "sys");
  HPy intern = HPy_IsNull(sys) ? HPy_NULL : HPy_GetAttr_s(ctx, sys, "intern");
  int n_done = 0;
  for (; n_done < keywords->n && !HPy_IsNull(intern); n_done++) {
    HPy name = HPyUnicode_FromString(ctx, keywords->names[n_done]);
    HPy interned = HPy_IsNull(name) ? HPy_NULL : fb_call_one(ctx, intern, name);
    if (!HPy_IsNull(name)) HPy_Close(ctx, name);
    if (HPy_IsNull(interned)) break;
    fb_ref_store(ctx, &keywords->interned[n_done], interned);
    HPy_Close(ctx, interned);
  }
  if (!HPy_IsNull(intern)) HPy_Close(ctx, intern);
  if (!HPy_IsNull(sys)) HPy_Close(ctx, sys);
  return n_done == keywords->n ? 0 : -1;
}

/* Index of a name by its text; -1 with an exception raised if it is none of them. */
static int find_by_text(HPyContext *ctx, const FbKeywords *keywords, HPy name) {
  HPy_ssize_t byte_len;
  const char *text = HPyUnicode_AsUTF8AndSize(ctx, name, &byte_len);
  if (text == NULL) return -1;
  for (int i = 0; i < keywords->n; i++) {
    if (fb_text_is(text, byte_len, keywords->names[i])) return i;
  }
  char shown[256];
  fb_raise(ctx, ctx->h_TypeError, "%s() got an unexpected keyword argument '%s'", keywords->callee,
           fb_cut_copy(shown, sizeof(shown), text, (size_t)byte_len));
  return -1;
}

/* Index of a name by its address; n if it is none of them or not interned. Reads the handles as they are: where
 * fb_context_tuple_items is known, an FbRef is simply a handle. */
FH_INLINE int find_by_address(HPyContext *ctx, const FbKeywords *keywords, HPy name) {
  int found = 0;
  while (found < keywords->n && !fb_context_is_same(ctx, name, keywords->interned[found].handle)) found++;
  return found;
}

int fb_keywords_find(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i) {
  if (FH_LIKELY(keywords->interned != NULL && fb_context_tuple_items != 0)) {
    int found = find_by_address(ctx, keywords, fb_tuple_item(kwnames, i));
    if (FH_LIKELY(found < keywords->n)) return found;
  }
  HPy name = HPy_GetItem_i(ctx, kwnames, i);
  if (HPy_IsNull(name)) return -1;
  int found = find_by_text(ctx, keywords, name);
  HPy_Close(ctx, name);
  return found;
}
