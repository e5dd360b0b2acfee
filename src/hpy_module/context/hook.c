/* The table of hooks and set_hooks(). ffi_hpy/_core.pyi describes the arguments of each hook. */
#include "hook.h"

#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "core/platform/atomic.h"
#include "keywords.h"
#include "raise.h"
#include "text.h"

/* The keyword arguments of set_hooks(), and the hook names in messages. */
static const char *const names[FB_N_HOOKS] = {
#define HOOK(constant, name) #name,
#include "hooks.def"
#undef HOOK
};

/* Set by the import of the package. Some are set again by programs that replace the class of data types or devices,
 * while other threads read. A cell is complete before it is published and never freed: a replaced cell may be in
 * use. */
static const FbRef *hooks[FB_N_HOOKS];

bool fb_hook_records;

HPy fb_hook_get(HPyContext *ctx, FbHook hook) {
  const FbRef *cell = fh_atomic_load_acquire(&hooks[hook]); /* pairs with hook_set */
  if (FH_LIKELY(cell != NULL)) return fb_ref_load(ctx, cell);
  return fb_raise(ctx, ctx->h_RuntimeError, "ffi_hpy._core: the hook '%s' is not set", names[hook]);
}

const void *fb_hook_current(FbHook hook) { return fh_atomic_load_acquire(&hooks[hook]); /* pairs with hook_set */ }

/* Returns 0, or -1 with MemoryError raised. */
static int hook_set(HPyContext *ctx, FbHook hook, HPy value) {
  FbRef *cell = calloc(1, sizeof(*cell));
  if (cell == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  fb_ref_store(ctx, cell, value);
  fh_atomic_store_release(&hooks[hook], cell); /* pairs with fb_hook_get */
  return 0;
}

HPy fb_hook_call(HPyContext *ctx, FbHook hook, const HPy *args, size_t nargs) {
  const FbRef *cell = fh_atomic_load_acquire(&hooks[hook]); /* pairs with hook_set */
  if (FH_UNLIKELY(cell == NULL)) return fb_hook_get(ctx, hook);
  /* borrowed, so that threads that call a hook do not contend for its reference count */
  HPy h = fb_ref_borrow(ctx, cell);
  HPy result = fb_call(ctx, h, args, nargs, HPy_NULL);
  fb_ref_return(ctx, h);
  return result;
}

/* The package calls this during its import, and again for classes that a program replaces. A hook that is not given
 * keeps its value. */
FB_METHOD_KEYWORDS(fb_hook_set_all, "set_hooks", "Give the binding its Python half.") {
  static const FbKeywords keywords = {"set_hooks", names, FB_N_HOOKS, NULL};
  if (nargs != 0) return fb_raise(ctx, ctx->h_TypeError, "set_hooks() takes keyword arguments only");
  HPy_ssize_t n = HPy_IsNull(kwnames) ? 0 : HPy_Length(ctx, kwnames);
  for (HPy_ssize_t i = 0; i < n; ++i) {
    int hook = fb_keywords_find(ctx, &keywords, kwnames, i);
    if (hook < 0) return HPy_NULL;
    if (hook_set(ctx, (FbHook)hook, args[i]) != 0) return HPy_NULL;
    /* String derives from str, and native strings become instances of it. */
    if (hook == FB_HOOK_STRING_CLASS) fb_text_class_made(args[i]);
    if (hook == FB_HOOK_OBJECT_MADE) {
      /* relaxed: a thread that reads the flag later records from then on */
      fh_atomic_store_relaxed(&fb_hook_records, !fb_context_is_same(ctx, args[i], ctx->h_None));
    }
  }
  return HPy_Dup(ctx, ctx->h_None);
}

/* --- suggestions ------------------------------------------------------------------------------------------------- */

/* Suggestions for misspelt names. The package compares the names, when a message needs a suggestion. */

void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size) {
  HPy args[2] = {name, names};
  HPy found = fb_hook_call(ctx, FB_HOOK_DID_YOU_MEAN, args, 2);
  HPy_ssize_t n;
  const char *text = HPy_IsNull(found) ? NULL : fb_text_get(ctx, found, &n);
  snprintf(out, size, "%s", text != NULL ? text : "");
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
}
