/* Python exceptions on their way into native code, out of a callback. */
#ifndef FFI_HPY_ERROR_TRANSLATE_H_
#define FFI_HPY_ERROR_TRANSLATE_H_

#include "hpy_module/context/context.h"

/* Takes the raised exception and leaves it as the thread's native error. `began` is the moment (error.h) at which the
 * callback began. Only where the context has the extension. Always returns -1. */
int fb_translate_raised(HPyContext *ctx, uint64_t began);

/* Leaves `error`, an _core.Error, as the thread's native error. Always returns -1. */
int fb_translate_set(HPyContext *ctx, HPy error);

#endif /* FFI_HPY_ERROR_TRANSLATE_H_ */
