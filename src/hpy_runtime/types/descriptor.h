/* Methods made of callables: a class can have a native function as a method. */
#pragma once

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/api/extension.h"

/* Whether this interpreter supports them. */
bool fhpy_descriptor_is_possible(void);

/* Makes a method that calls `callable`, an instance of an HPy type with HPy_tp_call, with the object as the first
 * argument. See method_new (extension.h). NULL with an exception raised; TypeError for another kind of callable. */
PyObject *fhpy_descriptor_new_method(PyObject *callable, const FhpyMethodNames *names);
