/* Makes the binding's types, and works around gaps of HPy implementations. */
#ifndef FFI_HPY_CONTEXT_TYPE_H_
#define FFI_HPY_CONTEXT_TYPE_H_

#include "context.h"

/* Like HPyType_FromSpec, with a base class or HPy_NULL.
 *
 * Three workarounds serve PyPy 7.3:
 * - Attributes with a getter become properties, because PyPy's own attributes drop the exceptions of getters and
 *   setters, and abort without a setter.
 * - PyPy 7.3 considers all instances of HPy types alike: a class may derive from types with different structs, and
 *   `__class__` may be assigned across them. It refuses both for classes with slots. Therefore the first type with a
 *   given struct inherits from a class with a slot (type.c): a type without a base, or a type made by
 *   fb_type_new_larger.
 * - PyPy 7.3 lets classes derive from types without HPy_TPFLAGS_BASETYPE, and aborts when it finalizes their instances.
 *   An __init_subclass__ refuses such classes. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base);

/* Makes the accessor type, of which properties are made. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_TYPE_H_ */
