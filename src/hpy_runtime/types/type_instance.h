/* Making instances of HPy types. */
#ifndef FFI_HPY_RUNTIME_TYPE_INSTANCE_H_
#define FFI_HPY_RUNTIME_TYPE_INSTANCE_H_

#include "type.h"

/* HPy_New: *data becomes the struct of the nearest HPy type. NULL with an exception raised. */
PyObject *fhpy_type_instance_make(PyObject *type, void **data);

/* An instance of any type. No __new__ and no __init__ is run but that of the built-in type that it derives from, which
 * is asked for an empty instance. NULL with an exception raised; TypeError for a metaclass, since a class cannot be
 * empty. */
PyObject *fhpy_type_instance_make_bare(PyObject *type);

/* tp_new of a callable type that has no HPy_tp_new: makes what the base would make, and sets the vectorcall word. */
PyObject *fhpy_type_instance_new_callable(PyObject *type, PyObject *args, PyObject *kw);

#ifdef FHPY_PYPY
/* The method __call__ of callable types: calls the function in the instance's vectorcall word. In cpyext a call through
 * tp_call or a vectorcall word costs more than twice as much. */
PyObject *fhpy_type_instance_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif

/* Writes the vectorcall word of an instance. The note's vectorcall_offset is not 0. */
static inline void type_instance_set_vectorcall(PyObject *o, const FhpyType *note, vectorcall_fn function) {
  /* release: a thread that reads the word, as the interpreter does without a lock, sees the object complete */
  fh_atomic_store_release_ptr((void **)(void *)((char *)o + note->vectorcall_offset), (void *)function);
}

#endif /* FFI_HPY_RUNTIME_TYPE_INSTANCE_H_ */
