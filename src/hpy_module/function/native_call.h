/* The native call of a Function, and calls of a Function with any arguments. function_call.c has the short paths. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "function_struct.h"
#include "hpy_module/container/builtin.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"

/* The number of arguments that are converted on the C stack. */
enum { FB_STACK_ARGS = 8 };

/* The `result` of a call: Python converts the containers of bound libraries itself. */
static const TVMFFIAny fb_native_call_no_result = {.zero_padding = FFI_HPY_TAKES_CONTAINERS};

/* The native call itself. */
FH_INLINE int fb_native_call_kept(TVMFFIObject *handle, const TVMFFIAny *views, size_t n, TVMFFIAny *result) {
  return ((const TVMFFIFunctionCell *)(handle + 1))->safe_call(handle, views, (int32_t)n, result);
}

/* Releases the GIL around the call, where the thread state need not be saved. Inline, because one more call and return
 * cost several nanoseconds here (benchmarks/gil.py). */
FH_INLINE int fb_native_call_released(TVMFFIObject *handle, const TVMFFIAny *views, size_t n, TVMFFIAny *result) {
  fb_thread_mark_frame();
  void *released = fb_ext->leave();
  int rc = fb_native_call_kept(handle, views, n, result);
  fb_ext->reenter(released);
  return rc;
}

/* Saves and restores the thread state of thread.h around the call. */
int fb_native_call_saved(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                         TVMFFIAny *result);

/* Calls the native function. *result is owned if it returns 0. With the extension a call that keeps the GIL does not
 * save the thread state: a callback detects that its thread is attached. */
FH_INLINE int fb_native_call_run(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                                 TVMFFIAny *result) {
  *result = fb_native_call_no_result;
  if (fb_thread_saves_state()) return fb_native_call_saved(ctx, handle, views, n, release, result);
  return release ? fb_native_call_released(handle, views, n, result) : fb_native_call_kept(handle, views, n, result);
}

/* The result of an operator for operands that do not fit. */
FH_INLINE TVMFFIAny fb_native_call_not_implemented(HPyContext *ctx) {
  return (TVMFFIAny){.type_index = FFI_HPY_PYTHON_VALUE, .v_int64 = HPy_Dup(ctx, ctx->h_NotImplemented)._i};
}
/* fb_native_call_run() for an operator: *result is NotImplemented if the operands do not fit. */
int fb_native_call_operator(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                            TVMFFIAny *result);

/* fb_native_call_run() for a Function. */
FH_INLINE int fb_native_call_function(HPyContext *ctx, const FbFunction *function, TVMFFIObject *handle,
                                      const TVMFFIAny *views, size_t n, bool release, TVMFFIAny *result) {
  bool is_operator = function != NULL && fh_atomic_load_relaxed(&function->is_operator);
  if (FH_UNLIKELY(is_operator)) return fb_native_call_operator(ctx, handle, views, n, release, result);
  return fb_native_call_run(ctx, handle, views, n, release, result);
}

/* Raises the pending error of a call without temporaries. */
void fb_native_call_raise(FbFunction *function);

/* The slot tp_call of Function. */
extern HPyDef fb_native_call_slot;
/* fb_function_call_raw with keyword arguments. Returns also 1, without an exception, if the arguments do not fit the
 * parameters. */
int fb_native_call_named_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, HPy kwnames,
                             TVMFFIAny *result);

/* A function may leave the padding of the result as it is; native code that gets the result compares values with their
 * padding. */
FH_INLINE void fb_native_call_settle(int rc, TVMFFIAny *result) {
  if (rc == 0 && result->zero_padding == FFI_HPY_TAKES_CONTAINERS) result->zero_padding = 0;
}

/* --- where handles are object pointers ---------------------------------------------------------------------------- */

/* The struct of a Function; the cell, and the native object, of any wrapper. */
FH_INLINE FbFunction *fb_struct_at(cpy_PyObject *self) { return (FbFunction *)((char *)self + fb_context_data_offset); }
FH_INLINE FbHandleCell *fb_cell_at(cpy_PyObject *object) { /* like fb_object_cell */
  return &((FbObject *)((char *)object + fb_context_data_offset))->cell;
}
FH_INLINE TVMFFIObject *fb_handle_at(cpy_PyObject *self) { /* like fb_object_get */
  return fh_atomic_load_relaxed(&fb_cell_at(self)->handle);
}

/* Converts the arguments from index i on. Returns false if an argument is not an immediate value. */
bool fb_native_call_read(cpy_PyObject *const *args, size_t i, size_t n, TVMFFIAny *views);

/* Calls a Function with any arguments, as a vectorcall. */
cpy_PyObject *fb_native_call_any(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames);
/* fb_function_call_raw with any arguments. */
int fb_native_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result);
