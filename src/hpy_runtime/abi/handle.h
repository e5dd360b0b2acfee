/* References to objects (incref, decref, deferred reference counts), and conversions between handles and object
 * pointers. */
#ifndef FFI_HPY_RUNTIME_HANDLE_H_
#define FFI_HPY_RUNTIME_HANDLE_H_

#include "hpy_runtime/api/alloca.h" /* for hpy.h */
#include <hpy.h>

#include "layout.h"

/* Up to 3.11 with the GIL, and on PyPy, the reference count is the first word of an object. Every extension built for
 * the limited API of those versions, or for cpyext, changes it in place. Later versions of CPython have immortal
 * objects, which only the interpreter's functions handle correctly. Both functions accept NULL. */
static inline void take_reference(PyObject *o) {
  if (!fhpy_layout.plain_refcounts)
    Py_IncRef(o);
  else if (o != NULL)
    ++*(Py_ssize_t *)o;
}
static inline void drop_reference(PyObject *o) {
  if (!fhpy_layout.plain_refcounts)
    Py_DecRef(o);
  else if (o != NULL && --*(Py_ssize_t *)o == 0)
    _Py_Dealloc(o);
}

/* Whether the interpreter supports deferred reference counts: without the GIL, from 3.14 on. */
static inline bool can_defer_references(void) {
  return fhpy_layout.free_threaded && fhpy_optional.PyUnstable_Object_EnableDeferredRefcount != NULL;
}
/* Asks the interpreter to defer the reference counts of an object that threads will share. Returns true if it complies;
 * only a collection then frees the object. The interpreter refuses an object that is not GC-tracked or is deferred
 * already. Any thread may call this. */
static inline bool defer_references(PyObject *o) {
  return can_defer_references() && fhpy_optional.PyUnstable_Object_EnableDeferredRefcount(o) != 0;
}

/* --- handles ----------------------------------------------------------------------------------------------------- */

/* A handle is the object pointer (extension.h), so the conversions are free. */

static inline PyObject *to_py(HPy h) { return (PyObject *)h._i; }
static inline HPy to_hpy(PyObject *o) { return (HPy){(intptr_t)o}; }

/* An array of handles is an array of object pointers. */
static inline PyObject *const *to_py_array(const HPy *items) { return (PyObject *const *)items; }

static inline HPy new_reference(PyObject *o) {
  take_reference(o);
  return to_hpy(o);
}

#endif /* FFI_HPY_RUNTIME_HANDLE_H_ */
