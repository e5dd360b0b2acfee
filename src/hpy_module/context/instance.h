/* Instances of the binding's types, and errors for instances that the types did not make. */
#ifndef FFI_HPY_CONTEXT_INSTANCE_H_
#define FFI_HPY_CONTEXT_INSTANCE_H_

#include "ref.h"

/* Checks cls, the first argument of the __new__ of `own`: raises TypeError unless cls is that type or a subclass.
 * Returns 0 or -1. */
int fb_instance_check_new(HPyContext *ctx, HPy cls, const FbRef *own);
/* HPy_New for the tp_new of `own`. PyPy 7.3 does not reject Device.__new__(Array); our runtime and CPython do. */
FH_INLINE HPy fb_instance_make(HPyContext *ctx, HPy cls, const FbRef *own, void **data) {
  if (FH_UNLIKELY(fb_ext == NULL) && fb_instance_check_new(ctx, cls, own) != 0) return HPy_NULL;
  return _HPy_New(ctx, cls, data);
}
/* Raises the TypeError for an object without the struct of its class, as made by object.__new__ on PyPy. Returns
 * HPy_NULL. */
HPy fb_instance_raise_unmade(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_CONTEXT_INSTANCE_H_ */
