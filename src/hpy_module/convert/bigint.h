/* Converts between the core's BigInt and Python ints beyond 64 bits, for which HPy has no entry. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Converts an int, or an object with __index__, to an owned Int or BigInt in *out. Returns 0, or -1 with an exception
 * raised. `callee` is for messages. */
int fb_bigint_from_python(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);

/* Converts a borrowed BigInt to a Python int. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_bigint_to_python(HPyContext *ctx, TVMFFIObject *handle);
