/* Making instances of the binding's types, and refusing what others made. */
#ifndef FFI_HPY_CONTEXT_INSTANCE_H_
#define FFI_HPY_CONTEXT_INSTANCE_H_

#include "ref.h"

/* Raises TypeError unless cls, what the __new__ of `own` was given, is that type or derives from it. 0 or -1. */
int fb_instance_check_new(HPyContext *ctx, HPy cls, const FbRef *own);
/* HPy_New for the tp_new of `own`. PyPy 7.3 lets Device.__new__(Array) through; our runtime and CPython do not. */
FH_INLINE HPy fb_instance_make(HPyContext *ctx, HPy cls, const FbRef *own, void **data) {
  if (FH_UNLIKELY(fb_ext == NULL) && fb_instance_check_new(ctx, cls, own) != 0) return HPy_NULL;
  return _HPy_New(ctx, cls, data);
}
/* Raises the TypeError for an object without the struct of its class, as object.__new__ makes them on PyPy.
 * HPy_NULL. */
HPy fb_instance_raise_unmade(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_CONTEXT_INSTANCE_H_ */
