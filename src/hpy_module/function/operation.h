/* Operations on Python objects that C++ asks the package for (ffi_hpy/bind.h), without a call of Python code.
 *
 * The package's function `answer` (_bind/define.py) has all operations. A library calls it with the name of the
 * operation and its arguments, so a Python function would run for each item that C++ reads or appends. This file has
 * the frequent operations, with the meaning that they have there. */
#ifndef FFI_HPY_FUNCTION_OPERATION_H_
#define FFI_HPY_FUNCTION_OPERATION_H_

#include "hpy_module/context/context.h"

/* Runs an operation. Returns false, and does nothing, if the package has to run it. Otherwise *out is a new handle, or
 * HPy_NULL with an exception raised. */
typedef bool (*FbOperation)(HPyContext *ctx, const HPy *args, size_t n, HPy *out);

/* Called once before the first operation. Returns 0, or -1 with an exception raised. */
int fb_operation_init(HPyContext *ctx);

/* Returns the operation of a name for n arguments; NULL if the package runs it. */
FbOperation fb_operation_find(const TVMFFIAny *name, int32_t n);

#endif /* FFI_HPY_FUNCTION_OPERATION_H_ */
