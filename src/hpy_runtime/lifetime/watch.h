/* References taken through pointers that own none, for tables such as "the wrapper of this native object".
 *
 * The owner of the table makes sure that each pointer in the table still points to the object's memory: the object's
 * destructor removes the pointer, under the lock under which others look it up. What remains to be found out is whether
 * the object is on its way to that destructor. */
#ifndef FFI_HPY_RUNTIME_WATCH_H_
#define FFI_HPY_RUNTIME_WATCH_H_

#include <stdbool.h>
#include <stdint.h>

#include "hpy_runtime/abi/cpython_abi.h"

/* Finds out how this interpreter allows it. Call it after fhpy_layout_measure. Returns 0, or -1 with an exception
 * raised. */
int fhpy_watch_measure(void);
/* Whether this interpreter allows it. */
bool fhpy_watch_is_possible(void);

/* To be called before other threads may find the pointer. */
void fhpy_watch_begin(PyObject *o);
/* 1 with a new reference, 0 if the object is going away. Runs no Python code. Without a GIL a watched object that its
 * finalizer brought back counts as going away until fhpy_watch_begin is called for it again. */
int fhpy_watch_try(PyObject *o);

/* Without a GIL: where the calling thread counts its own references to o, which only it writes. NULL if another thread
 * owns o, with a GIL, and where the layout is not known. */
uint32_t *fhpy_watch_own_count(PyObject *o);

#endif /* FFI_HPY_RUNTIME_WATCH_H_ */
