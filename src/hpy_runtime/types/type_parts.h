/* Parts of HPyType_FromSpec, for type_spec.c; a module, too, has methods and attributes. */
#pragma once

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/abi/handle.h"
#include "type.h"

/* --- checks ------------------------------------------------------------------------------------------------------- */

/* The features of an HPyType_Spec that this runtime supports.
 *
 * The binaries are universal: they know neither the layout of an object nor the functions of any interpreter. So only
 * this part of HPy's legacy features is supported:
 *
 *   - a type with HPyType_BuiltinShape_Legacy and basicsize 0, which has no struct: its instances are like
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

/* Whether the specification has a function for the slot. */
bool fhpy_type_check_has_slot(const HPyType_Spec *spec, HPySlot_Slot slot);

/* Returns 0, or -1 with an exception raised that names the type and the slot or shape. */
int fhpy_type_check_spec(const HPyType_Spec *spec);

/* Checks the specification against its bases, a tuple of types. Returns 0, or -1 with TypeError raised. */
int fhpy_type_check_bases(const HPyType_Spec *spec, PyObject *bases);

/* --- bases and metaclasses ---------------------------------------------------------------------------------------- */

/* The bases and the metaclass of a new type: read from HPyType_SpecParam, and described. */

typedef struct {
  PyObject *bases;     /* owned tuple, not empty */
  PyObject *metaclass; /* borrowed, or NULL for the metaclass that the bases require */
} FhpyTypeParameters;

typedef struct {
  const FhpyType *callable; /* of the first base whose instances have a vectorcall word, or NULL */
  Py_ssize_t basicsize;     /* the largest */
  bool has_gc;
  bool has_hpy;       /* one base is an HPy type or derives from one */
  PyObject *foreign;  /* borrowed: a base that is a heap type and not HPy's, such as a Python class; or NULL */
  PyObject *enlarged; /* borrowed: a base not made by HPy whose instances are larger than its built-in shape; or NULL */
} FhpyTypeBases;

/* All return 0, or -1 with an exception raised. */

/* Reads the parameters of a specification. Without a base, the built-in type of its shape becomes the base. */
int fhpy_type_bases_get_parameters(const HPyType_Spec *spec, HPyType_SpecParam *params, FhpyTypeParameters *result);

/* Describes a tuple of types. */
int fhpy_type_bases_describe(PyObject *bases, HPyType_BuiltinShape shape, FhpyTypeBases *result);

/* Refuses bases that HPy did not make and that conflict with the new type. */
int fhpy_type_bases_check_foreign(const HPyType_Spec *spec, const FhpyTypeBases *bases);

/* --- metaclasses -------------------------------------------------------------------------------------------------- */

/* Makes a type with a given metaclass, on every version. */

/* Makes a type from the specification. If metaclass is NULL, the most derived metaclass of the bases is used. */
PyObject *fhpy_type_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases);

/* --- methods and attributes --------------------------------------------------------------------------------------- */

/* The attribute tables in a type's note: converts HPyDef_MEMBER and HPyDef_GETSET to the interpreter's tables. */

/* Return the number of entries that fhpy_type_members_fill may write to note->members and note->getset, without their
 * ends. */
size_t fhpy_type_members_count(const HPyType_Spec *spec);
size_t fhpy_type_members_count_getset(const HPyType_Spec *spec);

/* Fills the two tables; note->data_offset must be set. A member named __vectorcalloffset__ sets
 * note->vectorcall_offset. Returns 0, or -1 with an exception raised. */
int fhpy_type_members_fill(FhpyType *note, const HPyType_Spec *spec, bool has_call_slot);

/* --- methods ----------------------------------------------------------------------------------------------------- */

/* Converts HPyDef lists to the interpreter's method tables, for types and for modules. */

/* Counts the definitions of one kind in a NULL-terminated list, which may itself be NULL. */
size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind);

/* Writes one entry for each method. The table is zeroed and has room for one more entry, its end. The table and the
 * definitions must outlive all objects that are made from them. Returns 0, or -1 with an exception raised. */
int fhpy_methods_fill(PyMethodDef *methods, HPyDef *const *defines);
