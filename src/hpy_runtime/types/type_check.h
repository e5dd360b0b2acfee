/* The features of an HPyType_Spec that this runtime supports.
 *
 * The binaries are universal: they know neither the layout of an object nor the functions of any interpreter. So only
 * this part of HPy's legacy features is supported:
 *
 *   - a type with HPyType_BuiltinShape_Legacy and basicsize 0, which has no struct of its own: its instances are like
 *     those of its base, HPy_AsStruct_Legacy and HPy_New return the object itself, and _HPyType_GetBuiltinShape returns
 *     Legacy. As in HPy, its base may not be a pure type (a type made with another shape);
 *   - _HPyType_GetBuiltinShape of a type that HPy did not make: Legacy;
 *   - empty lists of legacy slots (for a type of the legacy shape) and of legacy methods.
 *
 * TypeError is raised for a struct that begins with an interpreter's object header (the legacy shape with a basicsize),
 * for each legacy slot, and for legacy slots in a type of another shape; SystemError for a module's legacy methods
 * (load.c). This also applies to hybrid binaries, which are loaded as if they were universal.
 *
 * Also refused, as everywhere: a slot that is unknown or not a type slot, a duplicate slot, and contradictions
 * (HPy_TPFLAGS_HAVE_GC without HPy_tp_traverse, HPy_tp_call with an itemsize or together with a member
 * __vectorcalloffset__). */
#ifndef FFI_HPY_RUNTIME_TYPE_CHECK_H_
#define FFI_HPY_RUNTIME_TYPE_CHECK_H_

#include <stdbool.h>

#include "hpy_runtime/abi/handle.h"

/* Whether the specification has a function for the slot. */
bool fhpy_type_check_has_slot(const HPyType_Spec *spec, HPySlot_Slot slot);

/* Returns 0, or -1 with an exception raised that names the type and the slot or shape. */
int fhpy_type_check_spec(const HPyType_Spec *spec);

/* Checks the specification against its bases, a tuple of types. Returns 0, or -1 with TypeError raised. */
int fhpy_type_check_bases(const HPyType_Spec *spec, PyObject *bases);

#endif /* FFI_HPY_RUNTIME_TYPE_CHECK_H_ */
