/* References taken through pointers that own none, for tables such as "the wrapper of this native object".
 *
 * The table's owner sees to it that a pointer in it is one to memory: the object's destructor takes it out, under the
 * lock under which others look. What is left to find out is whether the object is on its way to that destructor. */
#ifndef FFI_HPY_RUNTIME_WATCH_H_
#define FFI_HPY_RUNTIME_WATCH_H_

#include "layout.h"

/* Finds out how this interpreter lets it be done. After fhpy_layout_measure. Returns 0, or -1 with an exception raised. */
int fhpy_watch_measure(void);
/* Whether it can be done. */
bool fhpy_watch_is_possible(void);

/* Before the pointer may be found by others. */
void fhpy_watch(PyObject *o);
/* 1 with a new reference taken, 0 if the object is going away. Runs no Python code. A watched object that its finalizer
 * brought back is, without a GIL, taken for one that is going away until it is watched again. */
int fhpy_watch_try(PyObject *o);

#endif /* FFI_HPY_RUNTIME_WATCH_H_ */
