/* The end of instances of classes made in Python: a function that may keep an instance alive. */
#pragma once

#include "hpy_runtime/api/extension.h"
#include "type.h"

/* Determines whether this interpreter supports it. Called after fhpy_watch_measure. Returns 0, or -1 with an exception
 * raised. */
int fhpy_instance_end_measure(void);
bool fhpy_instance_end_is_possible(void);

/* end_watch, end_is_watched and end_resume of the extension. */
bool fhpy_instance_end_watch(PyObject *type, int (*keeps)(HPy self), bool only_with_state);
int fhpy_instance_end_is_watched(PyObject *o);
bool fhpy_instance_end_resume(PyObject *o);
intptr_t fhpy_instance_end_get_word(void);
