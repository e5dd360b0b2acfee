/* Instances of HPy types: how they are made. */
#ifndef FFI_HPY_RUNTIME_TYPE_INSTANCE_H_
#define FFI_HPY_RUNTIME_TYPE_INSTANCE_H_

#include "type.h"

/* HPy_New: *data becomes the struct of the note nearest to the type. NULL with an exception raised. */
PyObject *fhpy_type_instance_make(PyObject *type, void **data);

/* An instance of any type without running __new__ or __init__ of anything but the built-in type that it derives from,
 * which is asked for an empty one. NULL with an exception raised; a class, which cannot be empty, is a TypeError. */
PyObject *fhpy_type_instance_make_bare(PyObject *type);

/* tp_new of a callable type that has no HPy_tp_new: what the base would make, with the vectorcall word set. */
PyObject *fhpy_type_instance_new_callable(PyObject *type, PyObject *args, PyObject *kw);

#ifdef FHPY_PYPY
/* The method __call__ of callable types: a call through tp_call or a vectorcall word costs more than twice as much in
 * cpyext. Calls the function in the instance's vectorcall word. */
PyObject *fhpy_type_instance_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif

/* Writes the vectorcall word of an instance. The note's vectorcall_offset is not 0. */
static inline void type_instance_set_vectorcall(PyObject *o, const FhpyType *note, vectorcall_fn function) {
  /* release: a thread that reads the word, as the interpreter does without a lock, sees the object complete */
  fh_atomic_store_release_ptr((void **)(void *)((char *)o + note->vectorcall_offset), (void *)function);
}

#endif /* FFI_HPY_RUNTIME_TYPE_INSTANCE_H_ */
