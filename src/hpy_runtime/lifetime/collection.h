/* The interpreter's garbage collector, accessed through the module gc. */
#pragma once

#include "hpy_runtime/abi/cpython_abi.h"

/* Calls `note` before and after each collection, with the oldest generation that is collected: 2 for all objects,
 * always so without a GIL. Two functions may follow. Returns whether the function will be called. Never raises. */
typedef void (*fhpy_collection_note)(int begins, int generation);
int fhpy_collection_follow(fhpy_collection_note note);
/* Calls gc.isenabled(), gc.disable() or gc.enable(), by name: returns 1 or 0 for the truth value of the result, -1 with
 * an exception raised. (3.9 does not export C functions for this.) */
int fhpy_collection_call(const char *name);

/* --- deferred decref --------------------------------------------------------------------------------------------- */

/* Deferred decref of references that another thread may be about to take. */

/* Releases one reference to o (which may be NULL) as soon as no thread can be between reading the pointer from shared
 * memory and taking its own reference. With a GIL this happens at once. May run any Python code. */
void fhpy_retire_release(PyObject *o);

/* --- freed types ------------------------------------------------------------------------------------------------- */

/* Notification when types are freed, for tables whose keys are pointers to types. */

typedef void (*fhpy_type_ended)(intptr_t type);

/* Registers `ended`, called when a type is freed, before its memory can become another object. `ended` must be the same
 * function for all types. An attached thread calls it, once for each time the type was watched. A finalizer that
 * resurrects the type ends the watch: the type must be watched again. Returns 1 if `ended` will be called or the type
 * is never freed; 0 if there would be no notification. Never raises. */
int fhpy_type_end_watch(PyObject *type, fhpy_type_ended ended);
