/* Making the binding's types, also where an HPy implementation has gaps. */
#ifndef FFI_HPY_CONTEXT_TYPE_H_
#define FFI_HPY_CONTEXT_TYPE_H_

#include "context.h"

/* As HPyType_FromSpec, with a base class or HPy_NULL.
 *
 * On PyPy 7.3 attributes with a getter become properties: its own drop the exceptions that getters and setters raise,
 * and abort where there is no setter. And it takes all instances of HPy types for alike: it lets classes mix types with
 * different structs, and `__class__` lead from one to another. It refuses both where a class has slots, which a type
 * therefore inherits (type.c) if it is the first with its struct: it has no base, or is said to enlarge its base's. It
 * also lets classes derive from types without HPy_TPFLAGS_BASETYPE, and aborts when it finalizes their instances: an
 * __init_subclass__ refuses them. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base);

/* Registers what properties are made of. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_TYPE_H_ */
