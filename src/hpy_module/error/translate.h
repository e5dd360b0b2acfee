/* Conversion of Python exceptions that leave a callback to native errors.
 *
 * If possible, an exception becomes the thread's pending error unchanged: it then returns to Python unchanged, and the
 * core requests an error object only if native code does (error_slot.h). The exception is converted to an error object
 * at once if the context cannot return a raised exception as a value, the core does not accept payloads, or the
 * exception has a native error already. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/error_slot.h"

/* Registers the payload operations of exceptions. Called once during the import. */
void fb_translate_init(void);

/* Takes the raised exception as a new handle; HPy_NULL if none is raised. Requires the extension. */
HPy fb_translate_take(HPyContext *ctx);
/* Makes an exception (stolen) the thread's pending error. HPy_NULL: the callback failed without raising an exception.
 * `began` is the moment (error.h) at which the callback began. Always returns -1. */
int fb_translate_put(HPyContext *ctx, HPy exception, uint64_t began);
/* Takes the raised exception and makes it the pending error. Always returns -1. */
int fb_translate_raised(HPyContext *ctx, uint64_t began);

/* Makes `error`, a _core.Error, the thread's pending error. Always returns -1. */
int fb_translate_set(HPyContext *ctx, HPy error);

/* Whether a non-empty pending error is an interruption (fb_error_is_interruption). The class of the exception decides;
 * for errors of native code the package knows the class by the error's kind. An interruption that arrives during the
 * check replaces *pending. */
bool fb_translate_interrupts(HPyContext *ctx, FbPendingError *pending);
