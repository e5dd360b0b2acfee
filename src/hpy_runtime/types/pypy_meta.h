/* Metaclasses on PyPy 8: types that have one, and the structs of types.
 *
 * cpyext makes types of class `type` only from a specification, and gives a class made in Python no more memory than a
 * type without metaclass has. The struct that a metaclass adds to its instances therefore lies outside of them, in a
 * block of its own that is found by the type's address.
 *
 * All functions want the GIL, which guards what they keep.
 */
#ifndef FFI_HPY_RUNTIME_PYPY_META_H_
#define FFI_HPY_RUNTIME_PYPY_META_H_

#include "type.h"

/* A new type of class metaclass, which is not `type`. NULL with an exception raised. */
PyObject *fhpy_pypy_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases);

/* Refuses what would need memory within the type itself: 0, or -1 with TypeError raised. */
int fhpy_pypy_meta_check(const HPyType_Spec *spec, bool has_call_slot);

/* The struct of a type whose class is an HPy metaclass: made, zeroed, when it is first asked for, and ended by the
 * second function, when the type is deallocated. Lack of memory ends the process, since HPy_AsStruct cannot fail. */
void *fhpy_pypy_meta_get_struct(PyObject *type);
void fhpy_pypy_meta_end_struct(PyObject *type);

#endif /* FFI_HPY_RUNTIME_PYPY_META_H_ */
