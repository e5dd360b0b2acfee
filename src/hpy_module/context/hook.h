/* Callbacks into the package: functions and classes that it passes to set_hooks. */
#pragma once

#include "context.h"

/* For the arguments and the result of each hook see set_hooks() in ffi_hpy/_core.pyi. */
typedef enum FbHook {
  FB_HOOK_CLASSIFY,
  FB_HOOK_CLASS_FOR_TYPE_INDEX,
  FB_HOOK_ERROR_TO_EXCEPTION,
  FB_HOOK_EXCEPTION_TO_ERROR,
  FB_HOOK_EXCEPTION_LEAVES,
  FB_HOOK_EXCEPTION_ARRIVES,
  FB_HOOK_EXCEPTION_ASKED_FOR,
  FB_HOOK_INTERRUPTS,
  FB_HOOK_CALL_GUARDED,
  FB_HOOK_CHECK_SIGNALS,
  FB_HOOK_DLPACK_CAPSULE,
  FB_HOOK_CHECK_MEMORY,
  FB_HOOK_ARRAY_TO_TENSOR,
  FB_HOOK_TENSOR_TO_ARRAY,
  FB_HOOK_ARRAY_STREAM,
  FB_HOOK_STRING_CLASS,
  FB_HOOK_BYTES_CLASS,
  FB_HOOK_WRAP_DTYPE,
  FB_HOOK_WRAP_OPAQUE_PTR,
  FB_HOOK_DEVICE_CLASS,
  FB_HOOK_SHAPE_CLASS,
  FB_HOOK_CONVERT,
  FB_HOOK_DID_YOU_MEAN,
  FB_HOOK_OPAQUE_VALUE,
  FB_HOOK_ORDER_OF_ARGUMENTS,
  FB_HOOK_REPLACE_REFUSED,
  FB_HOOK_CHECK_ANNOTATED,
  FB_HOOK_NAME_CLASSES,
  FB_HOOK_OBJECT_LACKING,
  FB_HOOK_OBJECT_MADE,
  FB_HOOK_OBJECT_REPLACED,
  FB_HOOK_SUBCLASS_MADE,
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
