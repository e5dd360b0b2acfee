/* Calls of Python code in every context. */
#pragma once

#include "context.h"

/* Like HPy_Call: returns a new handle, or HPy_NULL with an exception raised. */
FH_INLINE HPy fb_call(HPyContext *ctx, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  HPy (*call)(HPyContext *, HPy, const HPy *, size_t, HPy);
  FB_LATE(ctx, ctx_Call, call);
  return call(ctx, callable, args, nargs, kwnames);
}
/* Calls a method; args[0] is the object. */
FH_INLINE HPy fb_call_method(HPyContext *ctx, HPy name, const HPy *args, size_t nargs) {
  HPy (*call)(HPyContext *, HPy, const HPy *, size_t, HPy);
  FB_LATE(ctx, ctx_CallMethod, call);
  return call(ctx, name, args, nargs, HPy_NULL);
}
/* Returns the number of positional arguments of a vectorcall. PY_VECTORCALL_ARGUMENTS_OFFSET lends the callee the word
 * before the arguments, which the binding does not use. */
FH_INLINE size_t fb_call_n_args(size_t nargsf) { return nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1)); }
/* Calls with one argument. */
FH_INLINE HPy fb_call_one(HPyContext *ctx, HPy callable, HPy arg) { return fb_call(ctx, callable, &arg, 1, HPy_NULL); }

/* --- attributes -------------------------------------------------------------------------------------------------- */

/* Optional attributes, and the name of a type. */

/* Returns an attribute; HPy_NULL without an exception if it does not exist, or with an exception if the lookup
 * failed. */
HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name);
/* Writes type(h).__name__ to buffer and returns buffer. Never fails, and clears any raised exception. */
const char *fb_attr_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size);
/* Like fb_attr_type_name, but writes the qualified name, with the module unless the module is builtins. */
const char *fb_attr_full_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size);

/* --- tuples ------------------------------------------------------------------------------------------------------ */

/* Tuples: borrowed items, and tuples of ints (shapes, strides, ancestors). */

/* Returns the i'th item of a tuple, borrowed from the tuple. Requires fb_context_tuple_items != 0. */
FH_INLINE HPy fb_tuple_item(HPy tuple, HPy_ssize_t i) {
  HPy item;
  memcpy(&item, (const char *)tuple._i + fb_context_tuple_items + (size_t)i * sizeof(item), sizeof(item));
  return item;
}

/* Makes a tuple of n ints. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_tuple_of_ints(HPyContext *ctx, const int64_t *values, int32_t n);
