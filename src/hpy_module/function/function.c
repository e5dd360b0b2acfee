/* Function: calling native functions from Python, the hot path of the binding.
 *
 * call_with is the whole native call, compiled into each of the entries: function_vectorcall, where handles are object
 * pointers, function_call_impl elsewhere, and fb_function_call_raw. A call whose values are plain takes no lock but the
 * GIL, and allocates nothing but the result. */
#include "function.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/attr.h"
#include "hpy_module/context/cut.h"
#include "hpy_module/context/hold.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/function_name.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/own_class.h"
#include "hpy_module/object/owner.h"
#include "hpy_module/tensor/exchange.h"

/* So many arguments are converted on the C stack. */
enum { STACK_ARGS = 8 };
/* What a Function does with the GIL: what TVM_FFI_RELEASE_GIL_BY_DEFAULT says, or what `release_gil` was set to. A new
 * struct is all zero. */
enum { GIL_DEFAULT = 0, GIL_RELEASE = 1, GIL_KEEP = 2 };

typedef struct FbFunction {
  FbObject base;
  /* Both may be set while other threads call the Function: each is one word, of which the old and the new value are
   * right. */
  const char *name; /* NULL: unknown; else from fb_function_name_take */
  uint8_t gil;
} FbFunction;

HPyType_HELPERS(FbFunction)

_Static_assert(sizeof(FbFunction) <= FB_OBJECT_MAX_SIZE, "the largest struct that begins with an FbObject");

static bool defers_refcounts;           /* written once during the import */
/* Whether a call gives up the GIL, by `gil`. The first is what TVM_FFI_RELEASE_GIL_BY_DEFAULT says, read once during
 * the import. */
static bool releases[] = {[GIL_DEFAULT] = true, [GIL_RELEASE] = true, [GIL_KEEP] = false};

/* The struct of a Function; on PyPy 7.3 NULL for an object that has none. */
FH_INLINE FbFunction *function_struct(HPyContext *ctx, HPy h) { return (FbFunction *)fb_object_struct(ctx, h); }
/* As function_struct, for the attribute __name__, whose functions PyPy 7.3 calls with any object. The other attributes
 * are properties there, which check the class (property.c). */
static FbFunction *function_struct_if(HPyContext *ctx, HPy h) {
  return fb_context_is_pypy && !fb_own_class_check(ctx, h, &fb_own_class_function) ? NULL : function_struct(ctx, h);
}

FH_INLINE const char *name_of(FbFunction *function) {
  if (FH_UNLIKELY(function == NULL)) return "";
  const char *name = fh_atomic_load_acquire(&function->name); /* pairs with name_set */
  return name == NULL ? "" : name;
}

FH_INLINE bool releases_gil(FbFunction *function) { return releases[fh_atomic_load_relaxed(&function->gil)]; }

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Calls the native function, between brackets (thread.h). */
static FH_NOINLINE int run_bracketed(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n,
                                     bool release, TVMFFIAny *result) {
  FbThreadState outer;
  fb_thread_enter(ctx, release, &outer);
  int rc = ((const TVMFFIFunctionCell *)(handle + 1))->safe_call(handle, views, (int32_t)n, result);
  fb_thread_leave(&outer);
  return rc;
}

/* Calls the native function. With the extension a call that keeps the GIL needs no bracket: a callback finds out by
 * itself that its thread is attached. */
FH_INLINE int run(HPyContext *ctx, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, bool release,
                  TVMFFIAny *result) {
  *result = (TVMFFIAny){0};
  if (release || fb_thread_needs_brackets()) return run_bracketed(ctx, handle, views, n, release, result);
  return ((const TVMFFIFunctionCell *)(handle + 1))->safe_call(handle, views, (int32_t)n, result);
}

/* Converts the arguments into `views`, calls, and ends the temporaries. Returns 0 with *result owned, or -1 with an
 * exception raised. `views` and `temps` have room for n each: an argument makes one temporary at most. */
FH_INLINE int call_with(HPyContext *ctx, FbFunction *function, TVMFFIObject *handle, const HPy *argv, size_t n,
                        TVMFFIAny *views, FbTemp *temps, bool release, FbScope *scope, TVMFFIAny *result) {
  FbArgs args = {.temps = temps, .callee = name_of(function), .scope = scope};
  FbScopeBefore before;
  /* Arguments. Those converted before one that fails are given back. */
  for (size_t i = 0; i < n; i++) {
    args.position = (int)i;
    if (FH_UNLIKELY(fb_argument_convert(ctx, argv[i], &views[i], &args) != 0)) {
      fb_args_end(&args);
      return -1;
    }
  }
  /* The stream and the allocator that the arguments ask for. */
  bool is_scoped = fb_scope_is_set(scope);
  if (FH_UNLIKELY(is_scoped) && fb_scope_enter(ctx, scope, &before) != 0) {
    fb_args_end(&args);
    return -1;
  }
  int rc = run(ctx, handle, views, n, release, result);
  /* What was borrowed for the call goes back, and a failure becomes an exception. */
  if (FH_UNLIKELY(is_scoped)) fb_scope_leave(scope, &before);
  if (FH_LIKELY(rc == 0)) {
    fb_args_end(&args);
    return 0;
  }
  FbPendingError error = fb_error_slot_take(ctx); /* temporaries that end may run code that uses the slot */
  fb_args_end(&args);
  fb_error_raise(ctx, error, args.callee);
  return -1;
}

/* As call_with, for more arguments than fit on the C stack: one block for both arrays. The ABI counts arguments by
 * int32_t. */
static FH_NOINLINE int call_with_many(HPyContext *ctx, FbFunction *function, TVMFFIObject *handle, const HPy *argv,
                                      size_t n, bool release, FbScope *scope, TVMFFIAny *result) {
  TVMFFIAny *views = n > INT32_MAX ? NULL : calloc(n, sizeof(TVMFFIAny) + sizeof(FbTemp));
  if (views == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  int rc = call_with(ctx, function, handle, argv, n, views, (FbTemp *)(views + n), release, scope, result);
  free(views);
  return rc;
}

/* Calls a Function. No use of its cell is counted, because its handle, once set, is never moved (transfer.h); the
 * interpreter keeps the Function alive while it is called. Returns 0 with *result owned, or -1 with an exception
 * raised. */
FH_INLINE int call_function(HPyContext *ctx, HPy self, const HPy *argv, size_t n, bool keep_gil, FbScope *scope,
                            TVMFFIAny *result) {
  FbFunction *function = function_struct(ctx, self);
  TVMFFIObject *handle = fb_object_get(ctx, self);
  if (FH_UNLIKELY(handle == NULL)) {
    fb_object_raise_no_handle(ctx, self);
    return -1;
  }
  /* What native code dropped without a context is dropped now. */
  if (FH_UNLIKELY(fb_ext == NULL)) fb_hold_drain(ctx);
  bool release = !keep_gil && releases_gil(function);
  if (FH_UNLIKELY(n > STACK_ARGS)) return call_with_many(ctx, function, handle, argv, n, release, scope, result);
  TVMFFIAny views[STACK_ARGS];
  FbTemp temps[STACK_ARGS];
  return call_with(ctx, function, handle, argv, n, views, temps, release, scope, result);
}

/* Native functions have no names for their arguments. Raises TypeError with the first name that was given. */
static FH_NOINLINE HPy refuse_keywords(HPyContext *ctx, HPy self, HPy kwnames) {
  HPy first = HPy_GetItem_i(ctx, kwnames, 0);
  if (HPy_IsNull(first)) return HPy_NULL;
  HPy_ssize_t n;
  const char *text = HPyUnicode_AsUTF8AndSize(ctx, first, &n);
  if (text != NULL) {
    char shown[256];
    fb_raise(ctx, ctx->h_TypeError, "%s() takes positional arguments only, got keyword argument '%s'",
             fb_function_name(ctx, self), fb_cut_copy(shown, sizeof(shown), text, (size_t)n));
  }
  HPy_Close(ctx, first);
  return HPy_NULL;
}

/* The Python value of what a call returned, which is taken. If an argument came through an exchange table, a tensor
 * becomes one of that library. */
FH_INLINE HPy result_of(HPyContext *ctx, TVMFFIAny *result, const FbScope *scope) {
  if (FH_UNLIKELY(scope->exchange != NULL)) return fb_exchange_result(ctx, result, scope->exchange, false);
  return fb_result_make(ctx, result);
}

/* A call from Python: new handle, or HPy_NULL with an exception raised. */
static HPy call_python(HPyContext *ctx, HPy self, const HPy *argv, size_t n, HPy kwnames) {
  if (FH_UNLIKELY(!HPy_IsNull(kwnames)) && HPy_Length(ctx, kwnames) != 0) return refuse_keywords(ctx, self, kwnames);
  TVMFFIAny result;
  FbScope scope = {0};
  if (FH_UNLIKELY(call_function(ctx, self, argv, n, false, &scope, &result) != 0)) return HPy_NULL;
  return result_of(ctx, &result, &scope);
}

HPyDef_SLOT(function_call, HPy_tp_call)
static HPy function_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  return call_python(ctx, self, args, nargs, kwnames);
}

/* --- the call in the interpreter's own shape ---------------------------------------------------------------------- */

/* function_call in the shape of extension.h, which a call runs where handles are object pointers. It is three
 * functions, so that each has a small frame: without arguments, of ints alone, of any values. Ints are complete as soon
 * as they are read, so that a call of nothing else has nothing that ends after it. */

/* PY_VECTORCALL_ARGUMENTS_OFFSET lends the callee the word before the arguments, which is not needed here. */
FH_INLINE size_t n_of(size_t nargsf) { return nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1)); }
FH_INLINE FbFunction *struct_of(cpy_PyObject *self) { return (FbFunction *)((char *)self + fb_context_data_offset); }

/* The Python value of a result that is no None. */
static FH_NOINLINE HPy make_other(TVMFFIAny *result) { return fb_result_make(fb_ctx, result); }

/* Raises the pending error of a call without temporaries. Returns HPy_NULL. */
static FH_NOINLINE HPy raise_failure(FbFunction *function) {
  fb_error_raise(fb_ctx, fb_error_slot_take(fb_ctx), name_of(function));
  return HPy_NULL;
}

/* The native call and its result. */
FH_INLINE cpy_PyObject *run_immediate(FbFunction *function, TVMFFIObject *handle, const TVMFFIAny *views, size_t n) {
  TVMFFIAny result = {0};
  bool release = releases_gil(function);
  HPy value;
  int rc = FH_UNLIKELY(release || fb_thread_is_covered)
               ? run_bracketed(fb_ctx, handle, views, n, release, &result)
               : ((const TVMFFIFunctionCell *)(handle + 1))->safe_call(handle, views, (int32_t)n, &result);
  if (FH_UNLIKELY(rc != 0)) {
    value = raise_failure(function);
  } else if (result.type_index == kTVMFFINone) {
    value = fb_immediate_constant(fb_ctx, fb_ctx->h_None);
  } else if (result.type_index == kTVMFFIInt) {
    value = fb_immediate_int_new(fb_ctx, result.v_int64);
  } else {
    value = make_other(&result);
  }
  return (cpy_PyObject *)value._i;
}

static FH_NOINLINE cpy_PyObject *call_any(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf,
                                          cpy_PyObject *kwnames) {
  return (cpy_PyObject *)call_python(fb_ctx, (HPy){(intptr_t)self}, (const HPy *)args, n_of(nargsf),
                                     (HPy){(intptr_t)kwnames})
      ._i;
}

/* At least one argument. */
static FH_NOINLINE cpy_PyObject *call_ints(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  size_t n = n_of(nargsf), i = 0;
  TVMFFIAny views[STACK_ARGS];
  if (FH_UNLIKELY(n > STACK_ARGS)) return call_any(self, args, nargsf, NULL);
#pragma GCC unroll 1
  do {
    if (FH_UNLIKELY(!fb_immediate_int((HPy){(intptr_t)args[i]}, &views[i]))) return call_any(self, args, nargsf, NULL);
  } while (++i < n);
  TVMFFIObject *handle = fh_atomic_load_relaxed(&struct_of(self)->base.cell.handle); /* as fb_object_get */
  if (FH_UNLIKELY(handle == NULL)) return call_any(self, args, nargsf, NULL);
  return run_immediate(struct_of(self), handle, views, n);
}

static cpy_PyObject *function_vectorcall(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf,
                                         cpy_PyObject *kwnames) {
  if (FH_UNLIKELY(kwnames != NULL)) return call_any(self, args, nargsf, kwnames);
  if (n_of(nargsf) == 0) {
    TVMFFIObject *handle = fh_atomic_load_relaxed(&struct_of(self)->base.cell.handle); /* as fb_object_get */
    if (FH_LIKELY(handle != NULL)) return run_immediate(struct_of(self), handle, NULL, 0);
  } else if (fb_immediate_type((HPy){(intptr_t)args[0]}) == fb_immediate.int_type) {
    return call_ints(self, args, nargsf);
  }
  return call_any(self, args, nargsf, kwnames);
}

int fb_function_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result) {
  FbScope scope = {0};
  return call_function(ctx, function, args, nargs, true, &scope, result);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

const char *fb_function_name(HPyContext *ctx, HPy function) {
  const char *name = name_of(function_struct(ctx, function));
  return *name ? name : "native function";
}

/* Gives a Function a copy of a name. Returns 0, or -1 with MemoryError raised. A name that is replaced stays in use: a
 * call on another thread may need it for a message. */
static int name_set(HPyContext *ctx, FbFunction *function, const char *name) {
  const char *copy = fb_function_name_take(name);
  if (copy == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  const char *old = fh_atomic_exchange_acq_rel(&function->name, copy); /* pairs with name_of */
  if (old == copy) fb_function_name_give(old); /* it has two uses now */
  /* On PyPy 7.3 the owner is what is destroyed, and it gives the name back. A Function without an owner has no native
   * function either; its name is never given back. */
  FbOwner *owner = fb_object_has_owner ? (FbOwner *)function->base.owner : NULL;
  if (owner != NULL) owner->name = copy;
  return 0;
}

/* In addition to the base's own, which ends the handle cell. */
HPyDef_SLOT(function_destroy, HPy_tp_destroy)
static void function_destroy_impl(void *self) {
  FbFunction *function = self;
  fb_function_name_give(fh_atomic_load_relaxed(&function->name)); /* nobody else has it */
}

HPyDef_GETSET(function_name, "__name__", .doc = "Name for messages; \"\" if unknown.")
static HPy function_name_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return HPyUnicode_FromString(ctx, name_of(function_struct_if(ctx, self)));
}
static int function_name_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  HPy_ssize_t n;
  const char *text = NULL;
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_TypeError, "__name__ cannot be deleted");
  } else {
    text = fb_text_arg(ctx, value, "__name__", &n);
  }
  FbFunction *function = function_struct_if(ctx, self);
  if (function == NULL) fb_instance_raise_unmade(ctx, self);
  if (text != NULL && function != NULL) return name_set(ctx, function, text);
  if (fb_context_is_pypy) HPyErr_Clear(ctx); /* PyPy 7.3 forgets to raise it (see type.h), and trips over it later */
  return -1;
}

HPyDef_GETSET(function_gil, "release_gil", .doc = "Whether a call gives up the GIL while native code runs.")
static HPy function_gil_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  FbFunction *function = function_struct(ctx, self);
  if (function == NULL) return fb_instance_raise_unmade(ctx, self);
  return HPy_Dup(ctx, releases_gil(function) ? ctx->h_True : ctx->h_False);
}
static int function_gil_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_TypeError, "release_gil cannot be deleted");
    return -1;
  }
  int truth = HPy_IsTrue(ctx, value);
  FbFunction *function = function_struct(ctx, self);
  if (function == NULL) fb_instance_raise_unmade(ctx, self);
  if (truth < 0 || function == NULL) return -1;
  fh_atomic_store_relaxed(&function->gil, truth ? GIL_RELEASE : GIL_KEEP);
  return 0;
}

HPyDef_SLOT(function_repr, HPy_tp_repr)
static HPy function_repr_impl(HPyContext *ctx, HPy self) {
  char text[256], type[128], shown[81];
  if (function_struct(ctx, self) == NULL) return fb_instance_raise_unmade(ctx, self);
  TVMFFIObject *handle = fb_object_get(ctx, self);
  const char *name = name_of(function_struct(ctx, self));
  fb_attr_type_name(ctx, self, type, sizeof(type));
  if (handle == NULL) {
    snprintf(text, sizeof(text), "%s(chandle=None)", type);
  } else {
    fb_cut_copy(shown, sizeof(shown), name, strlen(name));
    snprintf(text, sizeof(text), "<%s%s%s at %p>", type, *name ? " " : "", shown, (void *)handle);
  }
  return fb_text_new(ctx, text, strlen(text));
}

HPyDef_SLOT(function_new, HPy_tp_new)
static HPy function_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* they are for __init__ */
  HPy base = fb_ref_load(ctx, &fb_own_class_function);
  bool is_subclass = !HPy_Is(ctx, type, base);
  HPy_Close(ctx, base);
  /* An instance of a subclass takes over the handle of a function: __move_handle_from__. */
  if (is_subclass) return fb_object_type_make(ctx, type, &fb_own_class_function);
  return fb_raise(ctx, ctx->h_TypeError,
                  "Function cannot be made directly: use ffi_hpy.convert(callable) or "
                  "ffi_hpy.get_global_func(name)");
}

HPyDef_SLOT(function_traverse, HPy_tp_traverse)
static int function_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  (void)self, (void)visit, (void)arg; /* nothing of Python's is in there; but only what is collected can be deferred */
  return 0;
}

HPy fb_function_wrap(HPyContext *ctx, TVMFFIObject *handle, const char *name) {
  /* A lookup by name makes a new wrapper: it has settings of its own, and a reference count that threads do not
   * share. */
  HPy h = name == NULL ? fb_wrap_object(ctx, handle) : fb_wrap_apart(ctx, handle);
  if (HPy_IsNull(h) || name == NULL || !fb_own_class_check(ctx, h, &fb_own_class_function)) return h;
  /* Only for functions with a name, which are the registered ones: threads share these. A Function whose references are
   * deferred would wait for a collection, and so would what a callback holds. */
  if (defers_refcounts) fb_ext->refcount_defer(ctx, h);
  if (name_set(ctx, function_struct(ctx, h), name) == 0) return h;
  HPy_Close(ctx, h);
  return HPy_NULL;
}

HPyDef_METH(fb_function_method_descriptor, "method_descriptor", HPyFunc_VARARGS,
            .doc = "A Function as a method for a class: the instance is its first argument.")
static HPy fb_function_method_descriptor_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 1 && nargs != 4) {
    return fb_raise(ctx, ctx->h_TypeError, "method_descriptor() takes fn[, name, qualname, doc]");
  }
  if (!fb_own_class_check(ctx, args[0], &fb_own_class_function)) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "method_descriptor() argument 1 must be a Function, not %s",
                    fb_attr_type_name(ctx, args[0], given, sizeof(given)));
  }
  /* There is an extension: without method_new the module has no such function (set_up in module.c). */
  if (nargs == 4) return fb_ext->method_new(ctx, args[0], args[1], args[2], args[3]);
  HPy name = function_name_get(ctx, args[0], NULL);
  if (HPy_IsNull(name)) return name;
  HPy method = fb_ext->method_new(ctx, args[0], name, name, ctx->h_None);
  HPy_Close(ctx, name);
  return method;
}

bool fb_function_has_methods(void) {
  return fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, method_new) && fb_ext->method_new != NULL;
}

HPy fb_function_type_new(HPyContext *ctx, HPy base) {
  /* Three places are left: for a destructor, a traverse slot, and the final NULL. Where there is an owner,
   * fb_object_type_derive takes the first of them. */
  static HPyDef *defines[] = {&function_call, &function_name, &function_gil, &function_repr,
                              &function_new,  NULL,           NULL,          NULL};
  int n_defines = 5;
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.Function",
      .basicsize = sizeof(FbFunction),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbFunction),
      .defines = defines,
      .doc = "A native function. Arguments are positional, and converted by what they are; errors of native code are\n"
             "raised. Any thread may call it; the GIL is given up meanwhile where release_gil is true.",
  };
  if (fb_ext != NULL) {
    /* Our runtime puts this function behind the instance's vectorcall word, in place of HPy's trampoline. */
    function_call.slot.cpy_trampoline = (cpy_PyCFunction)function_vectorcall;
  }
  if (!fb_object_has_owner) defines[n_defines++] = &function_destroy;
  /* Only the garbage collector frees objects with deferred counts, so that the type has to take part in it. */
  defers_refcounts =
      fb_ext != NULL && fb_ext->byte_size > offsetof(FhpyExtension, defers_refcounts) && fb_ext->defers_refcounts;
  if (defers_refcounts) {
    defines[n_defines++] = &function_traverse;
    spec.flags |= HPy_TPFLAGS_HAVE_GC;
  }
  const char *by_default = getenv("TVM_FFI_RELEASE_GIL_BY_DEFAULT");
  releases[GIL_DEFAULT] = by_default == NULL || strcmp(by_default, "0") != 0;
  return fb_object_type_derive(ctx, &spec, base, &fb_own_class_function);
}
