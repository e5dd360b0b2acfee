/* Makes instances of HPy types. */
#pragma once

#include "hpy_runtime/abi/handle.h"
#include "type.h"

/* HPy_New: *data becomes the struct of the nearest HPy type. NULL with an exception raised. */
PyObject *fhpy_type_instance_make(PyObject *type, void **data);

/* Makes an instance of any type. Runs only the __new__ and __init__ of the built-in base type, which makes an empty
 * instance. NULL with an exception raised; TypeError for a metaclass, since a class cannot be empty. */
PyObject *fhpy_type_instance_make_bare(PyObject *type);

/* tp_new of a callable type without HPy_tp_new: makes the instance like the base's tp_new, and sets the vectorcall
 * word. */
PyObject *fhpy_type_instance_new_callable(PyObject *type, PyObject *args, PyObject *kw);

#ifndef FHPY_PYPY
/* `class_call`, `class_next` and `class_shorten` of the extension. */
int fhpy_type_instance_set_call(PyObject *type, void *call);
int fhpy_type_instance_set_next(PyObject *type, void *next);
int fhpy_type_instance_shorten(PyObject *type, PyObject *base);

/* Whether instances of a class made in Python have attributes, slots or weak references. */
bool fhpy_type_instance_adds(PyObject *type);
#endif

#ifdef FHPY_PYPY
/* The method __call__ of callable types: calls the function in the instance's vectorcall word. In cpyext a call through
 * tp_call or a vectorcall word costs more than twice as much. */
PyObject *fhpy_type_instance_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif

/* Writes the vectorcall word of an instance. Requires note->vectorcall_offset != 0. */
static inline void type_instance_set_vectorcall(PyObject *o, const FhpyType *note, vectorcall_fn function) {
  /* release: a thread that reads the word without a lock, like the interpreter, sees a complete object */
  fh_atomic_store_release_ptr((void **)(void *)((char *)o + note->vectorcall_offset), (void *)function);
}

/* --- traversal --------------------------------------------------------------------------------------------------- */

/* Garbage collector support for instances of HPy types. */

/* tp_traverse and tp_clear of GC-tracked HPy types. */
int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg);
int fhpy_type_traverse_clear(PyObject *self);

/* Runs one HPy_tp_traverse over the struct of self, with the interpreter's visitor. */
int fhpy_type_traverse_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg);
