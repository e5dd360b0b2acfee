/* Keyword arguments: finds the names of a call in a function's names.
 *
 * CPython interns the names in the source of a call. So a name of a call is usually the object that fb_keywords_intern
 * stored, and a comparison of pointers finds it. Names are compared as strings where that fails, and where handles are
 * not object pointers. */
#include "keywords.h"

#include "call.h"
#include "messages.h"
#include "raise.h"
#include "text.h"

/* Calls sys.intern(), because HPy 0.9 has no function for it. */
int fb_keywords_intern_name(HPyContext *ctx, HPy name, FbRef *interned) {
  HPy sys = HPyImport_ImportModule(ctx, "sys");
  HPy intern = HPy_IsNull(sys) ? HPy_NULL : HPy_GetAttr_s(ctx, sys, "intern");
  HPy known = HPy_IsNull(intern) ? HPy_NULL : fb_call_one(ctx, intern, name);
  bool is_done = !HPy_IsNull(known);
  if (is_done) fb_ref_store(ctx, interned, known);
  if (is_done) HPy_Close(ctx, known);
  if (!HPy_IsNull(intern)) HPy_Close(ctx, intern);
  if (!HPy_IsNull(sys)) HPy_Close(ctx, sys);
  return is_done ? 0 : -1;
}

int fb_keywords_intern(HPyContext *ctx, const FbKeywords *keywords) {
  for (int i = 0; i < keywords->n; ++i) {
    HPy name = HPyUnicode_FromString(ctx, keywords->names[i]);
    int rc = HPy_IsNull(name) ? -1 : fb_keywords_intern_name(ctx, name, &keywords->interned[i]);
    if (!HPy_IsNull(name)) HPy_Close(ctx, name);
    if (rc != 0) return -1;
  }
  return 0;
}

/* Returns the index of a name by its string; -1 with an exception raised if it is not found. */
static int find_by_text(HPyContext *ctx, const FbKeywords *keywords, HPy name) {
  HPy_ssize_t byte_len;
  const char *text = HPyUnicode_AsUTF8AndSize(ctx, name, &byte_len);
  if (text == NULL) return -1;
  for (int i = 0; i < keywords->n; ++i) {
    if (fb_text_is(text, byte_len, keywords->names[i])) return i;
  }
  char shown[256];
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_UNEXPECTED, keywords->callee,
           fb_cut_copy(shown, sizeof(shown), text, (size_t)byte_len));
  return -1;
}

/* Like fb_keywords_find(), for a name that is not the interned object. */
int fb_keywords_find_text(HPyContext *ctx, const FbKeywords *keywords, HPy kwnames, HPy_ssize_t i) {
  HPy name = HPy_GetItem_i(ctx, kwnames, i);
  if (HPy_IsNull(name)) return -1;
  int found = find_by_text(ctx, keywords, name);
  HPy_Close(ctx, name);
  return found;
}

/* Whether nargs positional arguments are allowed; raises TypeError if not. */
static bool is_few(HPyContext *ctx, const FbKeywords *keywords, size_t nargs) {
  if (FH_LIKELY(nargs <= (size_t)keywords->n)) return true;
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_TOO_MANY, keywords->callee, keywords->n, (int)nargs);
  return false;
}

static void raise_twice(HPyContext *ctx, const FbKeywords *keywords, int which) {
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_TWICE, keywords->callee, keywords->names[which]);
}

/* Whether the first n arguments are given; raises TypeError if not. */
static bool has_first(HPyContext *ctx, const FbKeywords *keywords, int n, const HPy *given) {
  int i = 0;
  while (i < n && !HPy_IsNull(given[i])) ++i;
  if (FH_LIKELY(i == n)) return true;
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_MISSING, keywords->callee, keywords->names[i]);
  return false;
}

int fb_keywords_bind(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args, size_t nargs,
                     HPy kwnames, HPy *given) {
  HPy_ssize_t n_keywords = HPy_IsNull(kwnames) ? 0 : HPy_Length(ctx, kwnames);
  if (n_keywords < 0 || !is_few(ctx, keywords, nargs)) return -1;
  for (size_t i = 0; i < (size_t)keywords->n; ++i) given[i] = i < nargs ? args[i] : HPy_NULL;
  for (HPy_ssize_t i = 0; i < n_keywords; ++i) {
    int which = fb_keywords_find(ctx, keywords, kwnames, i);
    if (which < 0) return -1;
    if (!HPy_IsNull(given[which])) return raise_twice(ctx, keywords, which), -1;
    given[which] = args[nargs + (size_t)i];
  }
  return has_first(ctx, keywords, n_required, given) ? 0 : -1;
}

/* Reads the values of the known names from a dict. Returns their number; -1 with an exception raised. */
static HPy_ssize_t take_from(HPyContext *ctx, const FbKeywords *keywords, HPy kw, HPy *given) {
  HPy_ssize_t n_found = 0;
  for (int i = 0; i < keywords->n; ++i) {
    HPy value = HPy_GetItem_s(ctx, kw, keywords->names[i]);
    if (HPy_IsNull(value)) {
      if (!HPyErr_ExceptionMatches(ctx, ctx->h_KeyError)) return -1;
      HPyErr_Clear(ctx);
    } else if (HPy_IsNull(given[i])) {
      given[i] = value;
      ++n_found;
    } else {
      HPy_Close(ctx, value);
      return raise_twice(ctx, keywords, i), -1;
    }
  }
  return n_found;
}

int fb_keywords_bind_dict(HPyContext *ctx, const FbKeywords *keywords, int n_required, const HPy *args,
                          HPy_ssize_t nargs, HPy kw, HPy *given) {
  /* PyPy 7.3 passes the names to a tp_new in a tuple, as to a function. */
  if (!HPy_IsNull(kw) && HPyTuple_Check(ctx, kw)) {
    if (fb_keywords_bind(ctx, keywords, n_required, args, (size_t)nargs, kw, given) != 0) return -1;
    for (int i = 0; i < keywords->n; ++i) given[i] = HPy_IsNull(given[i]) ? HPy_NULL : HPy_Dup(ctx, given[i]);
    return 0;
  }
  HPy_ssize_t n_keywords = HPy_IsNull(kw) ? 0 : HPy_Length(ctx, kw);
  if (n_keywords < 0 || !is_few(ctx, keywords, (size_t)nargs)) return -1;
  for (int i = 0; i < keywords->n; ++i) given[i] = i < nargs ? HPy_Dup(ctx, args[i]) : HPy_NULL;
  HPy_ssize_t n_found = n_keywords == 0 ? 0 : take_from(ctx, keywords, kw, given);
  if (n_found >= 0 && n_found < n_keywords) {
    fb_raise(ctx, ctx->h_TypeError, "%s() got an unexpected keyword argument", keywords->callee);
  } else if (n_found >= 0 && has_first(ctx, keywords, n_required, given)) {
    return 0;
  }
  fb_keywords_close(ctx, keywords, given);
  return -1;
}

void fb_keywords_close(HPyContext *ctx, const FbKeywords *keywords, HPy *given) {
  for (int i = 0; i < keywords->n; ++i) {
    if (!HPy_IsNull(given[i])) HPy_Close(ctx, given[i]);
  }
}
