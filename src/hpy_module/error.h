/* The only translator between native errors and Python exceptions. */
#ifndef FFI_HPY_MODULE_ERROR_H_
#define FFI_HPY_MODULE_ERROR_H_

#include <stdatomic.h>
#include <tvm/ffi/c_api.h>

#include "context.h"

/* Raises what a native call that returned non-zero left in the thread's error slot. `callee` is for the message when it
 * left nothing; may be NULL. Always returns HPy_NULL. */
HPy fb_error_raise_pending(HPyContext *ctx, const char *callee);

/* A moment: how many native errors have become exceptions so far, in all threads. What became one before a callback began
 * is no part of what went wrong in it. */
extern _Atomic(uint64_t) fb_error_n_raised;
FB_INLINE uint64_t fb_error_moment(void) { return atomic_load_explicit(&fb_error_n_raised, memory_order_relaxed); }

/* The reverse, for the way out of a callback, which began at a moment: takes the raised exception and leaves it as the
 * thread's native error. Only where the context has the extension. Always returns -1. */
int fb_error_from_raised(HPyContext *ctx, uint64_t began);

/* Leaves `error`, an _core.Error, as the thread's native error. Always returns -1. */
int fb_error_set_pending(HPyContext *ctx, HPy error);

/* Takes the thread's native error out of the way of code that may use the slot (destructors), and puts it back. */
TVMFFIObjectHandle fb_error_set_aside(void);
void fb_error_put_back(TVMFFIObjectHandle error);
/* Forgets the thread's native error. */
void fb_error_discard(void);
/* Of an error that is not null. */
bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind);

/* The class Error. */
HPy fb_error_type_new(HPyContext *ctx, HPy base);

#endif /* FFI_HPY_MODULE_ERROR_H_ */
