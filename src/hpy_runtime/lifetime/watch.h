/* References taken through pointers that own none, for tables such as "the wrapper of this native object".
 *
 * The table's owner sees to it that each pointer in the table still points to the object's memory: the object's
 * destructor takes the pointer out, under the lock under which others look it up. What is left to find out is whether
 * the object is on its way to that destructor. */
#ifndef FFI_HPY_RUNTIME_WATCH_H_
#define FFI_HPY_RUNTIME_WATCH_H_

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"

/* Finds out how this interpreter lets it be done. After fhpy_layout_measure. Returns 0, or -1 with an exception
 * raised. */
int fhpy_watch_measure(void);
/* Whether it can be done. */
bool fhpy_watch_is_possible(void);

/* To be called before other threads may find the pointer. */
void fhpy_watch_begin(PyObject *o);
/* 1 with a new reference taken, 0 if the object is going away. Runs no Python code. Without a GIL a watched object that
 * its finalizer brought back counts as going away until fhpy_watch_begin is called for it again. */
int fhpy_watch_try(PyObject *o);

#endif /* FFI_HPY_RUNTIME_WATCH_H_ */
