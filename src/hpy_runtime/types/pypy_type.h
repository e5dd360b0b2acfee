/* Parts of types that cpyext lacks, on PyPy: structs of their own, metaclasses, and the end of instances of str. */
#pragma once

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/abi/handle.h"

/* --- structs ------------------------------------------------------------------------------------------------------ */

/* The structs of types, on PyPy.
 *
 * cpyext allocates as much memory for a class made in Python as for a type without a metaclass. Therefore the struct
 * that a metaclass adds to its instances is outside of them, in a separate block that is found by the type's pointer.
 *
 * All functions require the GIL, which guards the blocks. */

#ifdef FHPY_PYPY
/* Returns the struct of a type, or NULL if it has none yet. */
void *fhpy_pypy_struct_find(PyObject *type);
/* Makes the zeroed struct of a type without one. If memory is exhausted the process ends, since HPy_AsStruct cannot
 * fail. */
void *fhpy_pypy_struct_add(PyObject *type, size_t byte_size);
/* Frees the struct of a type, if it has one. Called when the type is deallocated. */
void fhpy_pypy_struct_end(PyObject *type);
#endif

/* --- layout ------------------------------------------------------------------------------------------------------ */

/* Layouts on PyPy: prevents a class with two bases of different structs, and an assignment to `__class__` across
 * structs.
 *
 * PyPy compares layouts by the names in `__slots__`, base by base. Types made in C have no `__slots__`, so all types
 * that derive from object directly count as equal. Therefore a type with a struct gets its own base: a class made in
 * Python with one slot that no other class has. That class adds nothing to an instance in C, and type_base_known skips
 * it. */

#ifdef FHPY_PYPY
/* Makes the tuple of bases that replaces the given bases of a type: a new tuple, or NULL with an exception raised. */
PyObject *fhpy_pypy_layout_make_bases(PyObject *bases);
#endif

/* --- metaclasses -------------------------------------------------------------------------------------------------- */

/* Types with a metaclass, on PyPy, whose cpyext makes only types of class `type` from a specification. */

#ifdef FHPY_PYPY
/* Makes a type of class metaclass, which is not `type`. NULL with an exception raised. Requires the GIL. */
PyObject *fhpy_pypy_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases);

/* Refuses a specification that needs memory within the type itself: returns 0, or -1 with TypeError raised. */
int fhpy_pypy_meta_check(const HPyType_Spec *spec, bool has_call_slot);
#endif

/* --- subclasses of str -------------------------------------------------------------------------------------------- */

/* The string data of instances of str subclasses, on PyPy. */

#ifdef FHPY_PYPY
/* Arranges that the string data of each instance of a str subclass is freed with the instance. Does nothing for other
 * types. Never raises. */
void fhpy_pypy_text_free_with(PyObject *type);
#endif
