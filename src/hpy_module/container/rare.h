/* Calls of methods of the package's classes, which implement the rare operations (ffi_hpy/_containers). */
#ifndef FFI_HPY_CONTAINER_RARE_H_
#define FFI_HPY_CONTAINER_RARE_H_

#include "hpy_module/context/context.h"

/* Calls self.method(key, value) without the arguments that are HPy_NULL. Returns a new handle, or HPy_NULL with an
 * exception raised. */
HPy fb_rare_call(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value);
/* Like fb_rare_call, without the result: returns 0, or -1 with an exception raised. */
int fb_rare_run(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value);

#endif /* FFI_HPY_CONTAINER_RARE_H_ */
