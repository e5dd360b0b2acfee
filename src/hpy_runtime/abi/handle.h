/* References to objects (incref, decref, deferred reference counts), and conversions between handles and object
 * pointers. */
#pragma once

#include "hpy_runtime/api/alloca.h" /* for hpy.h */
#include <hpy.h>

#include "layout.h"

/* The first parameter of the context's entries, of which most need no context. */
#define CTX FH_MAYBE_UNUSED HPyContext *ctx

/* The count of FHPY_COUNT_HALF, and whether it never changes, because the object is immortal. */
static inline uint32_t *get_half_count(PyObject *o) { return (uint32_t *)(void *)o; }
static inline bool is_immortal_count(uint32_t count) { return count > INT32_MAX; }

/* All functions accept NULL. The first two count in a known way. */
static inline void take_reference_by(FhpyCounting counting, PyObject *o) {
  if (FH_LIKELY(counting == FHPY_COUNT_WORD)) {
    if (o != NULL) ++*(Py_ssize_t *)o;
  } else if (counting == FHPY_COUNT_HALF) {
    if (o != NULL && !is_immortal_count(*get_half_count(o))) ++*get_half_count(o);
  } else {
    Py_IncRef(o);
  }
}
static inline void drop_reference_by(FhpyCounting counting, PyObject *o) {
  if (FH_LIKELY(counting == FHPY_COUNT_WORD)) {
    if (o != NULL && --*(Py_ssize_t *)o == 0) _Py_Dealloc(o);
  } else if (counting == FHPY_COUNT_HALF) {
    if (o != NULL && !is_immortal_count(*get_half_count(o)) && --*get_half_count(o) == 0) _Py_Dealloc(o);
  } else {
    Py_DecRef(o);
  }
}
static inline void take_reference(PyObject *o) { take_reference_by(fhpy_layout.counting, o); }
static inline void drop_reference(PyObject *o) { drop_reference_by(fhpy_layout.counting, o); }

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
