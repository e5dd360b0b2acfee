/* Moves handles into and out of wrappers. */
#ifndef FFI_HPY_OBJECT_TRANSFER_H_
#define FFI_HPY_OBJECT_TRANSFER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Replaces the handle of a CObject. Steals `handle`, also on failure. Returns 0, or -1 with an exception raised. */
int fb_transfer_put(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Sets the handle of a Function that has none and therefore is not called yet. Steals `handle`, also on failure. NULL
 * and handles of other types are refused. Returns 0, or -1 with an exception raised. */
int fb_transfer_put_function(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Moves the handle of `other` (a CObject, but not a Function) to `self`, which drops its old handle. Returns 0, or -1
 * with an exception raised. */
int fb_transfer_move(HPyContext *ctx, HPy self, HPy other);
/* Raises the TypeError for moving the handle of a Function away. The function may be running: calls do not count a use
 * of their callee, because that would slow each call down. Returns HPy_NULL. */
HPy fb_transfer_refuse_function(HPyContext *ctx);

#endif /* FFI_HPY_OBJECT_TRANSFER_H_ */
