/* The class CObject. */
#pragma once

#include "hpy_module/context/context.h"

/* Makes the class, before all other classes whose instances own a handle. Returns a new handle, or HPy_NULL with an
 * exception raised. */
HPy fb_cobject_type_new(HPyContext *ctx);

/* --- types from Python ------------------------------------------------------------------------------------------- */

/* Native types defined in Python: registration through the C ABI.
 *
 * A type is defined in two steps, so that the fields of types may refer to each other: first its key, then, once, its
 * fields. If the field names are distinct, only exhausted memory can make the second step fail after it has changed the
 * registry. */

extern HPyDef fb_define_type, fb_define_fields, fb_define_method, fb_define_type_attr;

/* --- descriptors ------------------------------------------------------------------------------------------------- */

/* FieldSlot: a reflected field as a Python object, a descriptor where possible. */

HPy fb_field_slot_type_new(HPyContext *ctx);

/* --- __init__ without a frame ------------------------------------------------------------------------------------ */

/* A method without a Python frame, the `__init__` of classes whose objects a plan or a native function makes. */

extern HPyDef fb_init_method;

/* New handle, or HPy_NULL with an exception raised. */
HPy fb_init_method_type_new(HPyContext *ctx);

/* --- slots of classes --------------------------------------------------------------------------------------------- */

/* Calls of a class without type.__call__, and steps of an iteration without a look-up of `__next__`. */

extern HPyDef fb_class_call;
extern HPyDef fb_class_next;

/* --- initializers ------------------------------------------------------------------------------------------------- */

/* Initializer: makes the native object of a new instance and sets its fields. */

/* Whether h is an Initializer. */
bool fb_initializer_check(HPyContext *ctx, HPy h);
/* Makes an object, owned by the caller, like a call of the Initializer. There are n positional arguments, followed by
 * the arguments named by `kwnames`, a tuple or HPy_NULL. Returns 0, or -1 with an exception raised; 1, and nothing is
 * changed, if the pointer of a name is unknown, so that the name may be wrong. Requires the extension. */
int fb_initializer_make_object(HPyContext *ctx, HPy initializer, const HPy *args, size_t n, HPy kwnames,
                               TVMFFIObject **object);
/* Makes the object of `instance`, a CObject without an object, in the same way. */
int fb_initializer_make(HPyContext *ctx, HPy initializer, HPy instance, const HPy *args, size_t n, HPy kwnames);

HPy fb_initializer_type_new(HPyContext *ctx);
