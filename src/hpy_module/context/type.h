/* Making the binding's types, also where an HPy implementation has gaps. */
#ifndef FFI_HPY_CONTEXT_TYPE_H_
#define FFI_HPY_CONTEXT_TYPE_H_

#include "ref.h"

/* As HPyType_FromSpec, with a base class or HPy_NULL.
 *
 * On PyPy 7.3 attributes with a getter become properties: its own drop the exceptions that getters and setters raise, and
 * abort where there is no setter. And it takes all instances of HPy types for alike: it lets classes mix types with
 * different structs, and `__class__` lead from one to another. It refuses both where a class has slots, which a type
 * therefore inherits (type.c) if it is the first with its struct: it has no base, or is said to enlarge its base's.
 * It also lets classes derive from types without HPy_TPFLAGS_BASETYPE, and aborts when it finalizes their instances: an
 * __init_subclass__ refuses them. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base);

/* Raises TypeError unless cls, what the __new__ of `own` was given, is that type or derives from it. 0 or -1. */
int fb_type_check_new(HPyContext *ctx, HPy cls, const FbRef *own);
/* HPy_New for the tp_new of `own`. PyPy 7.3 lets Device.__new__(Array) through; our runtime and CPython do not. */
FB_INLINE HPy fb_type_make(HPyContext *ctx, HPy cls, const FbRef *own, void **data) {
  if (FB_UNLIKELY(fb_ext == NULL) && fb_type_check_new(ctx, cls, own) != 0) return HPy_NULL;
  return _HPy_New(ctx, cls, data);
}
/* Raises the TypeError for an object without the struct of its class, as object.__new__ makes them on PyPy. HPy_NULL. */
HPy fb_type_raise_unmade(HPyContext *ctx, HPy h);

/* What a property calls. The closure must live for good. */
typedef struct FbAccess {
  HPyFunc_getter get;
  HPyFunc_setter set; /* NULL: read-only */
  void *closure;
} FbAccess;

/* property(get, set) for instances of `type`; anything else is a TypeError. */
HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access);

/* Registers what properties are made of. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_TYPE_H_ */
