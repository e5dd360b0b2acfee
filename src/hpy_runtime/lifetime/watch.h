/* References taken through pointers that own none, for tables such as the instance map.
 *
 * The owner of the table ensures that each pointer in the table is valid memory: the object's destructor removes the
 * pointer, under the lock under which others look it up. The functions here determine whether the object is about to
 * reach that destructor. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "hpy_runtime/abi/cpython_abi.h"

/* Determines how this interpreter supports it. Called after fhpy_layout_measure. Returns 0, or -1 with an exception
 * raised. */
int fhpy_watch_measure(void);
/* Whether this interpreter supports it. */
bool fhpy_watch_is_possible(void);

/* Called before other threads may find the pointer. */
void fhpy_watch_begin(PyObject *o);
/* Returns true with a new reference, or false if the object is being destroyed. Runs no Python code. Without a GIL a
 * watched object that its finalizer resurrected counts as destroyed until fhpy_watch_begin is called for it again. */
bool fhpy_watch_try(PyObject *o);

/* Whether the interpreter has ended the attempt to destroy an object that its finalizer resurrected: without a GIL it
 * then merges the two counts. Always true with a GIL. */
bool fhpy_watch_is_merged(PyObject *o);

/* Without a GIL: returns the calling thread's own reference count of o, which only this thread writes. NULL if another
 * thread owns o, with a GIL, and if the layout is unknown. */
uint32_t *fhpy_watch_own_count(PyObject *o);

/* --- immortal objects -------------------------------------------------------------------------------------------- */

/* Immortal objects, whose references need no counts. */

/* Makes o immortal without a GIL, so that threads do not contend for its reference count. The caller owns a reference
 * that it never releases. Does nothing with a GIL, or if another thread owns o, because only the owner may write its
 * counts. */
void fhpy_keep_object(PyObject *o);
