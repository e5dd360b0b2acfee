/* Calls of a Function with any arguments: the whole native call. The entry of each kind of context, and the functions
 * with raw results, each contain a copy of call_with. */
#include "native_call.h"

#include <stdlib.h>

#include "argument_order.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/tensor/exchange.h"

int32_t fb_function_struct_last_release = FB_GIL_DEFAULT;

int fb_native_call_saved(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                         TVMFFIAny *result) {
  FbThreadState outer;
  fb_thread_mark_frame();
  fb_thread_enter(ctx, release, &outer);
  int rc = fb_native_call_kept(handle, views, n, result);
  fb_thread_leave(&outer);
  return rc;
}

/* A sentinel of the core, which never frees it; NULL with an error pending if the core has none. */
typedef struct Sentinel {
  FbCoreFunction get;
  TVMFFIObject *found;
} Sentinel;
static TVMFFIObject *sentinel(Sentinel *self) {
  TVMFFIAny value;
  TVMFFIObject *found = fh_atomic_load_relaxed(&self->found);
  if (FH_LIKELY(found != NULL)) return found;
  if (fb_core_function_call(&self->get, NULL, 0, &value) != 0) return NULL;
  fh_atomic_store_relaxed(&self->found, value.v_obj); /* threads store the same object */
  return value.v_obj;
}

/* With KWARGS as a further argument, the function returns MISSING instead of an error if the operands do not fit. */
int fb_native_call_operator(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                            TVMFFIAny *result) {
  static Sentinel kwargs = {{.name = "ffi.GetKwargsObject"}, NULL}, missing = {{.name = "ffi.GetInvalidObject"}, NULL};
  TVMFFIAny given[FB_STACK_ARGS + 1];
  /* a call without an operand is a mistake of its caller */
  if (FH_UNLIKELY(n < 2 || n > FB_STACK_ARGS)) return fb_native_call_run(ctx, handle, views, n, release, result);
  if (FH_UNLIKELY(sentinel(&kwargs) == NULL || sentinel(&missing) == NULL)) return -1;
  for (size_t i = 0; i < n; ++i) given[i] = views[i];
  fb_put_object(&given[n], sentinel(&kwargs));
  int rc = fb_native_call_run(ctx, handle, given, n + 1, release, result);
  if (rc != 0 || result->type_index != kTVMFFIObject || result->v_obj != sentinel(&missing)) return rc;
  TVMFFIObjectDecRef(result->v_obj);
  *result = fb_native_call_not_implemented(ctx);
  return 0;
}

/* Converts the arguments into `views`, calls, and releases the temporaries. Returns 0 with *result owned, or -1 with an
 * exception raised. `views` and `temps` have room for n entries each: an argument makes one temporary at most. */
FH_INLINE int call_with(HPyContext *ctx, HPy self, FbFunction *function, TVMFFIObject *handle, const HPy *argv,
                        size_t n, TVMFFIAny *views, FbTemp *temps, bool release, FbScope *scope, TVMFFIAny *result) {
  FbArgs args = {.temps = temps, .callee = fb_function_struct_name(function), .scope = scope, .function = handle};
  FbScopeBefore before;
  bool for_python = function != NULL && fh_atomic_load_relaxed(&function->gil) == FB_GIL_KEEP_FOR_PYTHON;
  FbConversion convert = for_python ? fb_argument_keep : fb_argument_convert;
  /* If an argument fails, the temporaries of the arguments before it are released. */
  for (size_t i = 0; i < n; ++i) {
    args.position = (int)i;
    if (FH_UNLIKELY(convert(ctx, argv[i], &views[i], &args) != 0) &&
        fb_argument_convert_refused(ctx, self, argv[i], &views[i], &args) != 0) {
      fb_args_end(&args, -1);
      return -1;
    }
  }
  /* The stream and the allocator that the arguments select. */
  bool is_scoped = fb_scope_is_set(scope);
  if (FH_UNLIKELY(is_scoped) && fb_scope_enter(ctx, scope, &before) != 0) {
    fb_args_end(&args, -1);
    return -1;
  }
  int rc = fb_native_call_function(ctx, function, handle, views, n, release, result);
  /* The temporaries are released, and a failure becomes an exception. */
  if (FH_UNLIKELY(is_scoped)) fb_scope_leave(scope, &before);
  if (FH_LIKELY(rc == 0)) {
    fb_args_end(&args, 0);
    return 0;
  }
  FbPendingError error = fb_error_slot_take_pending(ctx); /* releasing temporaries may run code that uses the slot */
  fb_args_end(&args, rc);
  fb_error_name_classes(ctx, &error.error, views, argv, n);
  fb_error_raise(ctx, error, args.callee);
  return -1;
}

/* Like call_with, for more arguments than fit on the C stack: one heap block has both arrays. The ABI counts arguments
 * with int32_t. */
static FH_NOINLINE int call_with_many(HPyContext *ctx, HPy self, FbFunction *function, TVMFFIObject *handle,
                                      const HPy *argv, size_t n, bool release, FbScope *scope, TVMFFIAny *result) {
  TVMFFIAny *views = n > INT32_MAX ? NULL : calloc(n, sizeof(TVMFFIAny) + sizeof(FbTemp));
  if (views == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  int rc = call_with(ctx, self, function, handle, argv, n, views, (FbTemp *)(views + n), release, scope, result);
  free(views);
  return rc;
}

void fb_native_call_raise(FbFunction *function) {
  fb_error_raise(fb_ctx, fb_error_slot_take_pending(fb_ctx), fb_function_struct_name(function));
}

bool fb_native_call_read(cpy_PyObject *const *args, size_t i, size_t n, TVMFFIAny *views) {
  while (i < n && fb_immediate_read((HPy){(intptr_t)args[i]}, &views[i])) ++i;
  return i == n;
}

/* Calls a Function. The call does not count a use of the Function's cell, because the handle of a Function never moves
 * once set (transfer.h), and the interpreter keeps the Function alive during the call. Returns 0 with *result owned, or
 * -1 with an exception raised. */
FH_INLINE int call_struct(HPyContext *ctx, HPy self, FbFunction *function, TVMFFIObject *handle, const HPy *argv,
                          size_t n, bool keep_gil, FbScope *scope, TVMFFIAny *result) {
  if (FH_UNLIKELY(handle == NULL)) {
    fb_object_raise_no_handle(ctx, self);
    return -1;
  }
  /* Drop the references that native code released without a context. */
  if (FH_UNLIKELY(fb_ext == NULL)) fb_py_owner_drain(ctx);
  bool release = !keep_gil && fb_function_struct_releases_gil(function);
  if (FH_UNLIKELY(n > FB_STACK_ARGS))
    return call_with_many(ctx, self, function, handle, argv, n, release, scope, result);
  TVMFFIAny views[FB_STACK_ARGS];
  FbTemp temps[FB_STACK_ARGS];
  return call_with(ctx, self, function, handle, argv, n, views, temps, release, scope, result);
}

static FH_NOINLINE int call_function(HPyContext *ctx, HPy self, const HPy *argv, size_t n, bool keep_gil,
                                     FbScope *scope, TVMFFIAny *result) {
  return call_struct(ctx, self, fb_function_struct(ctx, self), fb_object_get(ctx, self), argv, n, keep_gil, scope,
                     result);
}

/* Like call_function. Immediate values need no temporaries. */
FH_INLINE int call_quickly(HPyContext *ctx, HPy self, const HPy *argv, size_t n, bool keep_gil, FbScope *scope,
                           TVMFFIAny *result) {
  TVMFFIAny views[FB_STACK_ARGS];
  if (FH_UNLIKELY(fb_ext == NULL || n > FB_STACK_ARGS))
    return call_function(ctx, self, argv, n, keep_gil, scope, result);
  FbFunction *function = fb_struct_at((cpy_PyObject *)self._i);
  TVMFFIObject *handle = fb_handle_at((cpy_PyObject *)self._i);
  size_t i = 0;
  while (i < n && fb_immediate_int(argv[i], &views[i])) ++i;
  bool is_short = handle != NULL && (i == n || fb_native_call_read((cpy_PyObject *const *)argv, i, n, views));
  if (FH_UNLIKELY(!is_short)) return call_function(ctx, self, argv, n, keep_gil, scope, result);
  bool release = !keep_gil && fb_function_struct_releases_gil(function);
  if (FH_LIKELY(fb_native_call_function(ctx, function, handle, views, n, release, result) == 0)) return 0;
  fb_native_call_raise(function);
  return -1;
}

/* A call with keyword arguments, which are arranged by position (argument_order.h). Returns 0 with *result owned; -1
 * with an exception raised; or 1 with the description of a mistake, a str, in *mistake. */
static FH_NOINLINE int call_by_names(HPyContext *ctx, HPy self, const HPy *argv, size_t n, HPy kwnames, bool keep_gil,
                                     FbScope *scope, TVMFFIAny *result, HPy *mistake) {
  const FbFunction *function = fb_function_struct(ctx, self);
  const uint16_t *about = function == NULL ? NULL : &function->about;
  const FbArgumentOrder *order = fb_argument_order_get(ctx, self, about, n, kwnames, mistake);
  if (FH_UNLIKELY(order == NULL)) return HPy_IsNull(*mistake) ? -1 : 1;
  HPy few[FB_STACK_ARGS], *ordered = few;
  size_t n_ordered = fb_argument_order_count(order);
  if (FH_UNLIKELY(n_ordered > FB_STACK_ARGS)) ordered = malloc(n_ordered * sizeof(HPy));
  int rc = -1;
  if (FH_LIKELY(ordered != NULL)) {
    fb_argument_order_apply(order, argv, ordered);
    rc = call_quickly(ctx, self, ordered, n_ordered, keep_gil, scope, result);
  } else {
    HPyErr_NoMemory(ctx);
  }
  if (ordered != few) free(ordered);
  fb_argument_order_end(ctx, order);
  return rc;
}

/* Converts the result of a call (stolen). If an argument came through an exchange table, a tensor becomes a tensor of
 * that library. */
FH_INLINE HPy result_of(HPyContext *ctx, TVMFFIAny *result, const FbScope *scope) {
  if (FH_UNLIKELY(result->type_index == FFI_HPY_PYTHON_VALUE)) return (HPy){(intptr_t)result->v_int64};
  if (FH_UNLIKELY(scope->exchange != NULL)) return fb_exchange_result(ctx, result, scope->exchange, false);
  return fb_result_make(ctx, result);
}

/* A call from Python. Returns a new handle, or HPy_NULL with an exception raised. */
static HPy call_python(HPyContext *ctx, HPy self, const HPy *argv, size_t n, HPy kwnames) {
  TVMFFIAny result;
  FbScope scope = {0};
  if (FH_UNLIKELY(!HPy_IsNull(kwnames)) && HPy_Length(ctx, kwnames) != 0) {
    HPy mistake;
    int rc = call_by_names(ctx, self, argv, n, kwnames, false, &scope, &result, &mistake);
    if (FH_UNLIKELY(rc > 0)) { /* raised here, so that the traceback shows no function of the package */
      HPyErr_SetObject(ctx, ctx->h_TypeError, mistake);
      HPy_Close(ctx, mistake);
    }
    if (FH_UNLIKELY(rc != 0)) return HPy_NULL;
  } else if (FH_UNLIKELY(call_function(ctx, self, argv, n, false, &scope, &result) != 0)) {
    return HPy_NULL;
  }
  return result_of(ctx, &result, &scope);
}

HPyDef_SLOT(fb_native_call_slot, HPy_tp_call)
static HPy fb_native_call_slot_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  return call_python(ctx, self, args, nargs, kwnames);
}

cpy_PyObject *fb_native_call_any(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames) {
  HPy h = {(intptr_t)self};
  TVMFFIAny result;
  FbScope scope = {0};
  if (FH_UNLIKELY(kwnames != NULL)) {
    return (cpy_PyObject *)call_python(fb_ctx, h, (const HPy *)args, fb_call_n_args(nargsf), (HPy){(intptr_t)kwnames})
        ._i;
  }
  int rc = call_struct(fb_ctx, h, fb_struct_at(self), fb_handle_at(self), (const HPy *)args, fb_call_n_args(nargsf),
                       false, &scope, &result);
  return FH_LIKELY(rc == 0) ? (cpy_PyObject *)result_of(fb_ctx, &result, &scope)._i : NULL;
}

/* --- raw results -------------------------------------------------------------------------------------------------- */

int fb_native_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result) {
  FbScope scope = {0};
  int rc = call_quickly(ctx, function, args, nargs, true, &scope, result);
  fb_native_call_settle(rc, result);
  return rc;
}

int fb_native_call_named_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, HPy kwnames,
                             TVMFFIAny *result) {
  FbScope scope = {0};
  HPy mistake;
  int rc = call_by_names(ctx, function, args, nargs, kwnames, true, &scope, result, &mistake);
  if (rc > 0) HPy_Close(ctx, mistake);
  fb_native_call_settle(rc, result);
  return rc;
}
