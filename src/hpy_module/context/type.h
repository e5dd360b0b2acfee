/* Making the binding's types, also where an HPy implementation has gaps. */
#ifndef FFI_HPY_CONTEXT_TYPE_H_
#define FFI_HPY_CONTEXT_TYPE_H_

#include "context.h"

/* As HPyType_FromSpec, with a base class or HPy_NULL.
 *
 * On PyPy 7.3 attributes with a getter become properties, because PyPy's own attributes drop the exceptions of getters
 * and setters, and abort if there is no setter. PyPy 7.3 also takes the instances of all HPy types for alike: a class
 * may derive from types with different structs, and `__class__` may be assigned across them. It refuses both for
 * classes with slots. So a type that is the first with its struct inherits from a class with a slot (type.c): it has no
 * base, or it is made by fb_type_new_larger. PyPy 7.3 also lets classes derive from types without HPy_TPFLAGS_BASETYPE,
 * and aborts when it finalizes their instances: an __init_subclass__ refuses such classes. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base);

/* Registers what properties are made of. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_TYPE_H_ */
