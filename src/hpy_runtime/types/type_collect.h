/* References outside of fields, for the garbage collector: see `collect` in extension.h. */
#pragma once

#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/api/extension.h"

#ifndef FHPY_PYPY
/* Whether the layout of types is known as far as this file needs it. */
bool fhpy_type_collect_is_possible(void);
void fhpy_type_collect(PyObject *type);
void fhpy_type_collect_begin(const FhpyCollector *functions);
#endif
