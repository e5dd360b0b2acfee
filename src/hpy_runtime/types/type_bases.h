/* The bases and the metaclass of a new type: read from HPyType_SpecParam, and described. */
#ifndef FFI_HPY_RUNTIME_TYPE_BASES_H_
#define FFI_HPY_RUNTIME_TYPE_BASES_H_

#include "hpy_runtime/abi/cpython_abi.h"
#include "type.h"

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

#endif /* FFI_HPY_RUNTIME_TYPE_BASES_H_ */
