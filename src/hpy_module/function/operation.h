/* Operations on Python objects that C++ asks for (ffi_hpy_python_values.operate in ffi_hpy/c_bind.h).
 *
 * The package has every operation (_bind/define.py), so that a Python function would run for each item that C++ reads
 * or appends. This file has the frequent operations, with the meaning that they have there. */
#pragma once

#include "hpy_module/context/context.h"

/* Called once during the import, before a bound library can be imported. Returns 0, or -1 with an exception raised. */
int fb_operation_init(HPyContext *ctx);
