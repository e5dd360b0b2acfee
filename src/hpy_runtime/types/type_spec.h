/* HPyType_FromSpec. */
#pragma once

#include "hpy_runtime/abi/handle.h"

/* Makes a type from HPy's specification and parameters, which may be NULL. NULL with an exception raised. */
PyObject *fhpy_type_spec_make(HPyType_Spec *spec, HPyType_SpecParam *params);
