/* A wrapper gets a handle, or gives its own away. */
#ifndef FFI_HPY_OBJECT_TRANSFER_H_
#define FFI_HPY_OBJECT_TRANSFER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Gives a CObject another handle, which is taken, on failure too. Returns 0, or -1 with an exception raised. */
int fb_transfer_put(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Gives a Function that has no handle, so that nobody calls it yet, the handle of a function, which is taken, on
 * failure too. NULL is refused. Returns 0, or -1 with an exception raised. */
int fb_transfer_put_function(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Moves the handle of `other`, a CObject and no Function, to self, which drops the one it had. 0, or -1 with an
 * exception. */
int fb_transfer_move(HPyContext *ctx, HPy self, HPy other);
/* Raises TypeError for whoever would move the handle of a Function away: the function may be running, and calls do not
 * count their callee, which would cost each of them. HPy_NULL. */
HPy fb_transfer_refuse_function(HPyContext *ctx);

#endif /* FFI_HPY_OBJECT_TRANSFER_H_ */
