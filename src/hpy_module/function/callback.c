/* Python callables as native functions. Native code may call and drop them on any thread.
 *
 * A callback is a Function of the core. The closure of such a Function is an owner of the callable (FbPyOwner), or a
 * Callback if arrays are passed as arrays of another library. In place of a callable there may be the name of a method
 * of the first argument. A call attaches the thread, converts the arguments to Python values, calls the callable, and
 * converts the return value to an owned value. An exception becomes the thread's native error. Contexts without the
 * extension cannot return a raised exception as a value; there the package's guard makes the call and catches the
 * exception. */
#include "callback.h"

#include <stdlib.h>

#include "hpy_module/container/lent.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/recorded.h"
#include "hpy_module/object/wrap.h"
#include "hpy_module/tensor/exchange.h"

enum { STACK_ARGS = 8 };

/* The callable, and the form of its array arguments. */
typedef struct Callback {
  const FbPyOwner *owner;
  const DLPackExchangeAPI *exchange; /* NULL: as Tensor */
  bool is_name; /* only with the extension, and for calls with an argument */
  bool keeps; /* the return value stays a Python object if it is not a native value (fb_argument_keep_owned) */
} Callback;

/* The caller of the callback owns the converted return value. */
FH_INLINE int result_out(HPyContext *ctx, const Callback *self, HPy value, TVMFFIAny *result) {
  if (fb_context_is_same(ctx, value, ctx->h_None)) return 0; /* *result is None already (c_api.h) */
  if (FH_LIKELY(fb_ext != NULL) && fb_immediate_int(value, result)) return 0;
  if (self->keeps) return fb_argument_keep_owned(ctx, value, result, FB_MESSAGE_RETURN_VALUE);
  return fb_argument_convert_owned(ctx, value, result, FB_MESSAGE_RETURN_VALUE);
}

/* The failure of a callback. The failure is kept here until the handles of the arguments are closed, because closing
 * them may run code that uses the error slot. At most one of exception, error and message is set. */
typedef struct Failure {
  HPy exception; /* where the context returns raised exceptions as values */
  HPy error;     /* a _core.Error; on other contexts */
  const char *kind, *message; /* of an error with a message only */
} Failure;

/* Records an error with a message of the binding. Returns -1. */
static FH_NOINLINE int fail_with(Failure *failure, const char *kind, const char *message) {
  *failure = (Failure){.kind = kind, .message = message};
  return -1;
}

/* Moves the raised exception into *failure. Returns -1. Without the extension an interruption stays raised; of any
 * other exception only the fact that it is a RecursionError is kept, and `message` describes the failure. Exceptions of
 * the callable itself are never lost: the guard has them. */
static FH_NOINLINE int fail_raised(HPyContext *ctx, Failure *failure, const char *message) {
  if (FH_LIKELY(fb_ext != NULL)) {
    *failure = (Failure){.exception = fb_translate_take(ctx)};
    return -1;
  }
  bool too_deep = HPyErr_ExceptionMatches(ctx, ctx->h_RecursionError);
  if (!fb_error_forget(ctx)) return fail_with(failure, "EnvErrorAlreadySet", "");
  if (too_deep) {
    return fail_with(failure, "RecursionError", "maximum recursion depth exceeded: callbacks within callbacks");
  }
  return fail_with(failure, "TypeError", message);
}

/* Makes the failure the thread's pending error. Returns -1. */
static FH_NOINLINE int failure_put(HPyContext *ctx, const Failure *failure, uint64_t began) {
  if (failure->message != NULL) {
    TVMFFIErrorSetRaisedFromCStr(failure->kind, failure->message);
  } else if (HPy_IsNull(failure->error)) {
    fb_translate_put(ctx, failure->exception, began);
  } else {
    fb_translate_set(ctx, failure->error);
    HPy_Close(ctx, failure->error);
  }
  return -1;
}

/* Calls through the package's guard, which catches exceptions. Returns 0, or -1 with *failure set. */
static FH_NOINLINE int call_guarded(HPyContext *ctx, const Callback *self, HPy callable, const HPy *argv, size_t n,
                                    TVMFFIAny *result, Failure *failure) {
  static const char no_result[] = "the return value of a callback cannot be passed to native code";
  HPy value;
  FbGuarded state = fb_guard_call(ctx, callable, argv, n, &value);
  if (state == FB_GUARDED_FAILED) {
    *failure = (Failure){.error = value};
    return -1;
  }
  if (state == FB_GUARDED_BROKEN) return fail_raised(ctx, failure, no_result);
  int rc = result_out(ctx, self, value, result);
  HPy_Close(ctx, value);
  return rc == 0 ? 0 : fail_raised(ctx, failure, no_result);
}

/* Calls the callable, or the method of that name, and converts its return value to *result. Returns 0, or -1 with
 * *failure set. */
static int call_callable(HPyContext *ctx, const Callback *self, HPy callable, const HPy *argv, size_t n,
                         TVMFFIAny *result, Failure *failure) {
  if (FH_UNLIKELY(fb_ext == NULL)) return call_guarded(ctx, self, callable, argv, n, result, failure);
  HPy value =
      FH_UNLIKELY(self->is_name) ? fb_call_method(ctx, callable, argv, n) : fb_call(ctx, callable, argv, n, HPy_NULL);
  if (FH_UNLIKELY(HPy_IsNull(value))) return fail_raised(ctx, failure, NULL);
  int rc = result_out(ctx, self, value, result);
  HPy_Close(ctx, value);
  return FH_LIKELY(rc == 0) ? 0 : fail_raised(ctx, failure, NULL);
}

/* Converts an argument; HPy_NULL with an exception raised. */
FH_INLINE HPy argument_of(HPyContext *ctx, const TVMFFIAny *arg, const DLPackExchangeAPI *exchange) {
  if (arg->type_index == kTVMFFIInt) return fb_immediate_int_new(ctx, arg->v_int64); /* the most common value */
  return FH_LIKELY(exchange == NULL) ? fb_result_of_view(ctx, arg) : fb_exchange_view(ctx, arg, exchange);
}

/* Converts the arguments, calls, and closes the arguments. argv has room for n handles. Returns 0, or -1 with a native
 * error pending. */
static int convert_and_call(HPyContext *ctx, const Callback *self, const TVMFFIAny *args, int32_t n, HPy *argv,
                            TVMFFIAny *result) {
  /* Taken before anything can fail: native errors that become exceptions after this moment belong to this callback. */
  uint64_t began = fb_error_moment();
  Failure failure;
  int32_t n_done = 0;
  int rc = 0;
  /* The arguments are views; the Python values own their data. n_done counts the handles to close. */
  for (; rc == 0 && n_done < n; n_done += rc == 0) {
    argv[n_done] = argument_of(ctx, &args[n_done], self->exchange);
    if (HPy_IsNull(argv[n_done])) rc = fail_raised(ctx, &failure, "an argument of a callback has no Python form");
  }
  if (rc == 0) {
    /* the caller keeps the function alive, and the function keeps the owner alive */
    HPy callable = fb_ref_borrow(ctx, &self->owner->ref);
    rc = call_callable(ctx, self, callable, argv, (size_t)n, result, &failure);
    fb_ref_return(ctx, callable);
  }
  for (int32_t i = 0; i < n_done; ++i) HPy_Close(ctx, argv[i]);
  return FH_LIKELY(rc == 0) ? 0 : failure_put(ctx, &failure, began);
}

int fb_callback_refuse(void) {
  TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a Python callback was called after the interpreter began to exit");
  return -1;
}

/* Runs a whole call on any thread, attached or not. Returns 0, or -1 with a native error pending. */
FH_INLINE int run_callback(const Callback *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  HPy stack[STACK_ARGS], *argv = stack;
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) {
    return fb_callback_refuse();
  }
  if (n > STACK_ARGS) argv = malloc((size_t)n * sizeof(*argv));
  int rc = -1;
  /* A deleter may call back while an exception is raised. Python code must not run with a raised exception. */
  FbRaised raised;
  fb_raised_take(&raised);
  if (argv == NULL) {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "no memory for the arguments of a callback");
  } else {
    rc = convert_and_call(attach.ctx, self, args, n, argv, result);
  }
  if (argv != stack) free(argv);
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return rc;
}

/* The safe_call of a callback; self is its FbPyOwner. */
static int callback_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  return run_callback(&(Callback){.owner = self}, args, n, result);
}

/* The safe_call of a function that calls a method of its first argument; self is the FbPyOwner of the name. */
static int method_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  if (FH_LIKELY(n > 0)) return run_callback(&(Callback){.owner = self, .is_name = true}, args, n, result);
  TVMFFIErrorSetRaisedFromCStr("TypeError", "a method was called without its object");
  return -1;
}

/* The safe_call of a callback that returns Python objects; self is its FbPyOwner. */
static int keeping_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  return run_callback(&(Callback){.owner = self, .keeps = true}, args, n, result);
}

/* The safe_call of a callback that gets arrays of another library; self is a Callback, which owns its FbPyOwner. */
static int array_callback_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  return run_callback(self, args, n, result);
}

/* A Function of TVMFFIFunctionCreate, in both cores, ours and apache-tvm-ffi's. */
typedef struct Closure {
  TVMFFIObject header;
  TVMFFIFunctionCell cell; /* its safe_call calls `call` with `self`, and is the same for all closures */
  void *self;
  TVMFFISafeCallType call;
} Closure;

/* The safe_call of closures: found in the first callback, and then constant. */
static TVMFFISafeCallType closure_call;

FbPyOwner *fb_callback_owner(TVMFFIObject *function) {
  const Closure *closure = (const Closure *)function;
  TVMFFISafeCallType known = fh_atomic_load_relaxed(&closure_call);
  if (known == NULL || closure->cell.safe_call != known) return NULL;
  if (closure->call == callback_call) return closure->self;
  return closure->call == array_callback_call ? (FbPyOwner *)((Callback *)closure->self)->owner : NULL;
}

/* Deleter of an array callback, on any thread. */
static void array_callback_drop(void *self) {
  fb_py_owner_drop((FbPyOwner *)((Callback *)self)->owner);
  free(self);
}

/* Steals the owner. Returns 0, or -1 with an exception raised. */
static int callback_new(HPyContext *ctx, FbPyOwner *owner, const DLPackExchangeAPI *exchange, TVMFFIObjectHandle *out) {
  Callback *callback = exchange == NULL ? NULL : malloc(sizeof(*callback));
  int rc = -1;
  if (exchange == NULL) {
    rc = TVMFFIFunctionCreate(owner, callback_call, fb_py_owner_drop, out);
  } else if (callback != NULL) {
    *callback = (Callback){.owner = owner, .exchange = exchange};
    rc = TVMFFIFunctionCreate(callback, array_callback_call, array_callback_drop, out);
  } else {
    HPyErr_NoMemory(ctx);
  }
  if (rc == 0) {
    if (closure_call == NULL) fh_atomic_store_relaxed(&closure_call, TVMFFIFunctionGetCellPtr(*out)->safe_call);
    return 0;
  }
  /* The core owns the closure only after success. */
  if (!HPyErr_Occurred(ctx)) fb_error_raise_pending(ctx, "function_from_callable");
  free(callback);
  fb_py_owner_drop(owner);
  return -1;
}

/* Returns the exchange table of the class for array arguments; NULL with an exception raised. */
static const DLPackExchangeAPI *table_of(HPyContext *ctx, HPy capsule) {
  const DLPackExchangeAPI *exchange = fb_exchange_read(ctx, capsule);
  if (exchange != NULL && exchange->managed_tensor_to_py_object_no_sync != NULL) return exchange;
  if (!HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_TypeError, "expected an exchange table of DLPack %d that makes arrays", DLPACK_MAJOR_VERSION);
  }
  return NULL;
}

/* Makes a callback of a value. Returns 0, or -1 with an exception raised. */
static int callback_of(HPyContext *ctx, HPy fn, const DLPackExchangeAPI *exchange, TVMFFIObjectHandle *out) {
  if (FH_UNLIKELY(!HPyCallable_Check(ctx, fn))) {
    char given[128];
    fb_raise(ctx, ctx->h_TypeError, "expected a callable, got %s", fb_attr_type_name(ctx, fn, given, sizeof(given)));
    return -1;
  }
  FbPyOwner *owner = fb_py_owner_new(ctx, fn);
  return owner == NULL ? -1 : callback_new(ctx, owner, exchange, out);
}

/* The FbConversion of callables: function_from_callable() without a wrapper. */
static int callable_argument(HPyContext *ctx, HPy fn, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObjectHandle handle = NULL;
  if (callback_of(ctx, fn, NULL, &handle) != 0) return -1;
  if (FH_UNLIKELY(fb_recorded_is_on()) && fb_recorded_tell(ctx, handle) != 0) {
    fb_drop_object(handle, -1);
    return -1;
  }
  return fb_args_view(args, handle, out);
}

/* --- callables that last for one call ----------------------------------------------------------------------------- */

/* With a GIL such a Function borrows its callable from the caller, and owns it only from the end of the call on, if
 * native code has kept the Function. Functions without a callable wait for the next calls; the GIL guards their stack,
 * which stays empty without a GIL. */
enum { MOST_SPARE = 8 };
static TVMFFIObject *spare[MOST_SPARE];
static int n_spare;

FH_INLINE FbPyOwner *lent_owner(TVMFFIObject *function) { return ((Closure *)function)->self; }

static TVMFFIObject *lent_new(HPyContext *ctx, HPy callable) {
  TVMFFIObjectHandle function = NULL;
  fb_py_owner_drain(ctx);
  if (FH_LIKELY(n_spare != 0) && FH_LIKELY(HPyCallable_Check(ctx, callable))) {
    function = spare[--n_spare];
  } else if (callback_of(ctx, callable, NULL, &function) != 0) {
    return NULL;
  } else if (fb_context_free_threaded) {
    return function;
  } else {
    HPy_Close(ctx, callable); /* the reference of the new Function, which borrows from here on */
  }
  fb_ref_lend(&lent_owner(function)->ref, callable);
  return function;
}

static void lent_keep(TVMFFIObject *function) {
  if (!fb_context_free_threaded) fb_ref_own(fb_ctx, &lent_owner(function)->ref);
}

/* The caller's reference keeps the callable alive, so that no destructor runs. */
static void lent_end(TVMFFIObject *function) {
  FbPyOwner *owner = lent_owner(function);
  if (FH_LIKELY(!fb_context_free_threaded)) {
    fb_ref_end_loan(&owner->ref);
    if (FH_LIKELY(n_spare < MOST_SPARE)) {
      spare[n_spare++] = function;
      return;
    }
  }
  fb_py_owner_release(fb_ctx, owner);
  TVMFFIObjectDecRef(function);
}

int fb_callback_init(HPyContext *ctx, HPy module) {
  HPy converter = HPy_GetAttr_s(ctx, module, "function_from_callable");
  if (HPy_IsNull(converter)) return -1;
  fb_argument_replace_converter(ctx, converter, callable_argument);
  fb_lent_callback_new = lent_new;
  fb_lent_callback_end = lent_end;
  fb_lent_callback_keep = lent_keep;
  HPy_Close(ctx, converter);
  return 0;
}

HPyDef_METH(fb_callback_function, "function_from_callable", HPyFunc_VARARGS,
            .doc = "A native function that calls a Python callable.")
static HPy fb_callback_function_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs < 1 || nargs > 2) {
    return fb_raise(ctx, ctx->h_TypeError,
                    "function_from_callable() takes a callable[, exchange_api], got %zu arguments", nargs);
  }
  const DLPackExchangeAPI *exchange = nargs == 2 ? table_of(ctx, args[1]) : NULL;
  if (nargs == 2 && exchange == NULL) return HPy_NULL;
  TVMFFIObjectHandle handle = NULL;
  if (callback_of(ctx, args[0], exchange, &handle) != 0) return HPy_NULL;
  HPy function = fb_wrap_object(ctx, handle);
  if (FH_LIKELY(!fb_recorded_is_on()) || HPy_IsNull(function)) return function;
  if (fb_recorded_add(ctx, function) == 0) return function;
  HPy_Close(ctx, function);
  return HPy_NULL;
}

HPyDef_GET(fb_callback_callable, "_callable", .doc = "The Python callable that this is made of; None for another one.")
static HPy fb_callback_callable_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  TVMFFIObject *handle = fb_object_take(ctx, self);
  bool is_function = handle != NULL && handle->type_index == kTVMFFIFunction;
  FbPyOwner *owner = is_function ? fb_callback_owner(handle) : NULL;
  HPy callable = owner == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_ref_load(ctx, &owner->ref);
  if (handle != NULL) fb_drop_object(handle, -1);
  return callable;
}

/* Makes a Function of a Python object and a safe_call for its owner. */
static HPy function_of(HPyContext *ctx, HPy value, TVMFFISafeCallType call, const char *name) {
  FbPyOwner *owner = fb_py_owner_new(ctx, value);
  TVMFFIObjectHandle handle = NULL;
  if (owner == NULL) return HPy_NULL;
  if (TVMFFIFunctionCreate(owner, call, fb_py_owner_drop, &handle) == 0) return fb_wrap_object(ctx, handle);
  fb_error_raise_pending(ctx, name);
  fb_py_owner_drop(owner);
  return HPy_NULL;
}

HPyDef_METH(fb_callback_method, "function_from_method_name", HPyFunc_O,
            .doc = "A native function that calls the method of a name of its first argument.")
static HPy fb_callback_method_impl(HPyContext *ctx, HPy self, HPy name) {
  (void)self;
  HPy_ssize_t n_bytes;
  if (fb_text_arg(ctx, name, "name", &n_bytes) == NULL) return HPy_NULL;
  return function_of(ctx, name, method_call, "function_from_method_name");
}

HPyDef_METH(fb_callback_keeping, "function_that_keeps", HPyFunc_VARARGS,
            .doc = "A native function that calls a callable, and returns Python objects, but pointers, themselves.")
static HPy fb_callback_keeping_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "function_that_keeps() takes 2 arguments, got %zu", nargs);
  fb_argument_set_pointer_class(ctx, args[1]);
  return function_of(ctx, args[0], keeping_call, "function_that_keeps");
}
