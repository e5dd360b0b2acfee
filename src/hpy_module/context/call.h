/* Calls of Python code in every context. */
#ifndef FFI_HPY_CONTEXT_CALL_H_
#define FFI_HPY_CONTEXT_CALL_H_

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
/* Calls with one argument. */
FH_INLINE HPy fb_call_one(HPyContext *ctx, HPy callable, HPy arg) { return fb_call(ctx, callable, &arg, 1, HPy_NULL); }

#endif /* FFI_HPY_CONTEXT_CALL_H_ */
