/* Python exceptions on their way into native code, out of a callback.
 *
 * An exception becomes the thread's pending error as it is, if it can: then it comes back as it is, and the core asks
 * for an error object only if native code does (error_slot.h). Where that is not possible it becomes an error object at
 * once: the context gives no raised exception as a value, the core takes no payloads, or the exception has a native
 * error already. */
#ifndef FFI_HPY_ERROR_TRANSLATE_H_
#define FFI_HPY_ERROR_TRANSLATE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/error_slot.h"

/* What may become of exceptions. To be called once during the import. */
void fb_translate_init(void);

/* Takes the raised exception: new handle, HPy_NULL if none is raised. Only where the context has the extension. */
HPy fb_translate_take(HPyContext *ctx);
/* Makes an exception, which is taken, the thread's pending error; HPy_NULL: the callback failed without raising one.
 * `began` is the moment (error.h) at which the callback began. Always returns -1. */
int fb_translate_put(HPyContext *ctx, HPy exception, uint64_t began);
/* Both in one: the raised exception becomes the pending error. Always returns -1. */
int fb_translate_raised(HPyContext *ctx, uint64_t began);

/* Makes `error`, an _core.Error, the thread's pending error. Always returns -1. */
int fb_translate_set(HPyContext *ctx, HPy error);

/* Whether what was taken from the slot, which is not empty, is an interruption (fb_error_is_interruption): its class
 * tells, which the package knows for errors of native code, by their kinds. An interruption that comes meanwhile takes
 * the place of *pending. */
bool fb_translate_interrupts(HPyContext *ctx, FbPendingError *pending);

#endif /* FFI_HPY_ERROR_TRANSLATE_H_ */
