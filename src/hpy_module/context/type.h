/* The binding's types, their properties, and checks of their instances. */
#pragma once

#include "context.h"

/* --- instances ---------------------------------------------------------------------------------------------------- */

/* Instances of the binding's types, and errors for instances that the types did not make. */

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

/* --- types -------------------------------------------------------------------------------------------------------- */

/* Makes the binding's types, and works around gaps of HPy implementations. */

/* Like HPyType_FromSpec, with a base class or HPy_NULL.
 *
 * Three workarounds serve PyPy 7.3:
 * - Attributes with a getter become properties, because PyPy's own attributes drop the exceptions of getters and
 *   setters, and abort without a setter.
 * - PyPy 7.3 considers all instances of HPy types alike: a class may derive from types with different structs, and
 * `__class__` may be assigned across them. PyPy 7.3 refuses both for classes with slots. Therefore the first type with
 * a
 *   given struct inherits from a class with a slot (type.c): a type without a base, or a type made by
 *   fb_type_new_larger.
 * - PyPy 7.3 lets classes derive from types without HPy_TPFLAGS_BASETYPE, and aborts when it finalizes their instances.
 *   An __init_subclass__ refuses such classes. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base);
/* Makes a type without a base, and stores it in *own. */
HPy fb_type_new_root(HPyContext *ctx, HPyType_Spec *spec, FbRef *own);

/* The spec of a type whose instances have a struct. The doc may be NULL. */
#define FB_TYPE_SPEC(Struct, type_name, type_flags, type_defines, type_doc) \
  {.name = "ffi_hpy._core." type_name,                                      \
   .basicsize = sizeof(Struct),                                             \
   .flags = (type_flags),                                                   \
   .builtin_shape = SHAPE(Struct),                                          \
   .defines = (type_defines),                                               \
   .doc = (type_doc)}

/* Makes the accessor type, of which properties are made. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);
