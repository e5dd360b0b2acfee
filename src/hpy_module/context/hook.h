/* Callbacks into the package: functions and classes that it passes to set_hooks. */
#pragma once

#include "context.h"

typedef enum FbHook {
#define HOOK(constant, name) FB_HOOK_##constant,
#include "hooks.def"
#undef HOOK
  FB_N_HOOKS
} FbHook;

/* Returns a new handle to a hook; HPy_NULL with RuntimeError raised if the package has not set it. */
HPy fb_hook_get(HPyContext *ctx, FbHook hook);
/* Calls a hook. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_hook_call(HPyContext *ctx, FbHook hook, const HPy *args, size_t nargs);

/* Identifies the current value of a hook, to detect a later change: the pointer of a replaced hook is never reused. */
const void *fb_hook_current(FbHook hook);

extern HPyDef fb_hook_set_all;

/* Whether the hook object_made is set, and not to None: the package records objects for its leak report. */
extern bool fb_hook_records;

/* --- suggestions ------------------------------------------------------------------------------------------------- */

/* Suggestions for misspelt names. */

/* Writes the end of a message, ". Did you mean 'x'?", or an empty string, for a name that is not in `names`, a dict
 * (hook did_you_mean). Never raises: without memory or stack it writes an empty string. */
void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size);
