/* The class Function: its attributes and constructors. function_call.c has the call of a Function. */
#include "function.h"

#include <stdio.h>
#include <stdlib.h>

#include "callback.h"
#include "function_call.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/function_name.h"
#include "hpy_module/object/handle_cell.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"
#include "native_call.h"

HPyType_HELPERS(FbFunction)

/* Returns the struct of a Function; NULL with TypeError raised for an object without one. */
static FbFunction *struct_of(HPyContext *ctx, HPy h) {
  FbFunction *function = fb_function_struct(ctx, h);
  if (function == NULL) fb_instance_raise_unmade(ctx, h);
  return function;
}

/* Like fb_function_struct, for the attribute __name__: PyPy 7.3 calls the functions of that attribute with any object.
 * The other attributes are properties there, which check the class (type.c). */
static FbFunction *function_struct_if(HPyContext *ctx, HPy h) {
  return fb_context_is_pypy && !fb_own_class_check(ctx, h, &fb_own_class_function) ? NULL : fb_function_struct(ctx, h);
}

const char *fb_function_name(HPyContext *ctx, HPy function) {
  return fb_function_struct_title(fb_function_struct(ctx, function));
}

/* Gives a Function a copy of a name. Returns 0, or -1 with MemoryError raised. The old name stays in use, because a
 * call on another thread may need it for a message. */
static int name_set(HPyContext *ctx, FbFunction *function, const char *name) {
  const char *copy = fb_function_name_take(name);
  if (copy == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  const char *old = fh_atomic_exchange_acq_rel(&function->name, copy); /* pairs with fb_function_struct_name */
  if (old == copy) fb_function_name_give(old); /* the copy has two uses now */
  /* On PyPy 7.3 the owner is destroyed, and releases the name. A Function without an owner has no native function
   * either; its name is never released. */
  FbOwner *owner = fb_object_has_owner ? (FbOwner *)function->base.owner : NULL;
  if (owner != NULL) owner->name = copy;
  return 0;
}

/* Runs in addition to the base's destructor, which ends the handle cell. */
HPyDef_SLOT(function_destroy, HPy_tp_destroy)
static void function_destroy_impl(void *self) {
  FbFunction *function = self;
  const char *name = fh_atomic_load_relaxed(&function->name); /* no other reference exists */
  if (name != function->first_name) fb_function_name_give(name);
  free(function->first_name);
}

/* Gives a new Function the name by which it was looked up. Returns 0, or -1 with MemoryError raised. */
static int name_first(HPyContext *ctx, FbFunction *function, const char *name) {
  if (fb_object_has_owner) return name_set(ctx, function, name); /* there the class has no destructor */
  size_t size = strlen(name) + 1;
  function->first_name = malloc(size);
  if (function->first_name == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  memcpy(function->first_name, name, size);
  fh_atomic_store_release(&function->name, function->first_name); /* pairs with fb_function_struct_name */
  return 0;
}

HPyDef_GETSET(function_name, "__name__", .doc = "Name for messages; \"\" if unknown.")
static HPy function_name_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return HPyUnicode_FromString(ctx, fb_function_struct_name(function_struct_if(ctx, self)));
}
static int function_name_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  HPy_ssize_t n;
  const char *text = NULL;
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_DELETED, "__name__");
  } else {
    text = fb_text_arg(ctx, value, "__name__", &n);
  }
  FbFunction *function = function_struct_if(ctx, self);
  if (function == NULL) fb_instance_raise_unmade(ctx, self);
  if (text != NULL && function != NULL) return name_set(ctx, function, text);
  /* PyPy 7.3 does not raise the exception (see type.h), and a later call would fail because of it */
  if (fb_context_is_pypy) HPyErr_Clear(ctx);
  return -1;
}

HPyDef_GET(function_qualname, "__qualname__",
           .doc = "Name after the name of the class, for functions of bound libraries.")
static HPy function_qualname_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure; /* the package has the names (function_metadata.py) */
  return HPy_GetAttr_s(ctx, self, "_qualname");
}

HPyDef_GETSET(function_gil, "release_gil",
              .doc = "Whether a call releases the GIL while native code runs: by default yes, unless "
                     "TVM_FFI_RELEASE_GIL_BY_DEFAULT is 0.")
static HPy function_gil_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  FbFunction *function = struct_of(ctx, self);
  if (function == NULL) return HPy_NULL;
  return HPy_Dup(ctx, fb_function_struct_releases_gil(function) ? ctx->h_True : ctx->h_False);
}
static int function_gil_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_DELETED, "release_gil");
    return -1;
  }
  int truth = HPy_IsTrue(ctx, value);
  FbFunction *function = struct_of(ctx, self);
  if (truth < 0 || function == NULL) return -1;
  /* one overload gets Python objects, so all overloads do, and keep the GIL */
  if (fh_atomic_load_relaxed(&function->gil) == FB_GIL_KEEP_FOR_PYTHON) return 0;
  if (!truth) return fb_function_call_keep(ctx, self, function);
  fh_atomic_store_relaxed(&function->gil, FB_GIL_RELEASE);
  return 0;
}

HPyDef_SET(function_takes_python, "_takes_python",
           .doc = "Set to True for a function whose arguments are the Python objects "
                  "themselves.")
static int function_takes_python_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure, (void)value;
  FbFunction *function = struct_of(ctx, self);
  if (function == NULL) return -1;
  fh_atomic_store_relaxed(&function->gil, FB_GIL_KEEP_FOR_PYTHON);
  return 0;
}

HPyDef_SET(function_is_operator, "_is_operator",
           .doc = "Set to True for a function of a bound library: a call with operands that do not fit returns "
                  "NotImplemented.")
static int function_is_operator_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure, (void)value;
  FbFunction *function = struct_of(ctx, self);
  if (function == NULL) return -1;
  fh_atomic_store_relaxed(&function->is_operator, true);
  return 0;
}

HPyDef_GETSET(function_about, "_about", .doc = "The number of the package's record about the author's words.")
static HPy function_about_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  FbFunction *function = struct_of(ctx, self);
  if (function == NULL) return HPy_NULL;
  return HPyLong_FromInt32_t(ctx, fh_atomic_load_relaxed(&function->about));
}
static int function_about_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  int32_t number = HPy_IsNull(value) ? 0 : fb_int32_read(ctx, value);
  FbFunction *function = struct_of(ctx, self);
  if (function == NULL || HPyErr_Occurred(ctx)) return -1;
  if (number < 0 || number > UINT16_MAX) number = 0;
  fh_atomic_store_relaxed(&function->about, (uint16_t)number);
  return 0;
}

/* A placeholder that the package replaces (function_metadata.py): CPython 3.14 stores the annotations of a class
 * under another name, unless the class has this attribute. */
HPyDef_GET(function_annotations, "__annotations__", .doc = "The types of parameters and result, as far as known.")
static HPy function_annotations_get(HPyContext *ctx, HPy self, void *closure) {
  (void)self, (void)closure;
  return HPyDict_New(ctx);
}

HPyDef_SLOT(function_repr, HPy_tp_repr)
static HPy function_repr_impl(HPyContext *ctx, HPy self) {
  char text[256], type[128], shown[81];
  if (fb_function_struct(ctx, self) == NULL) return fb_instance_raise_unmade(ctx, self);
  TVMFFIObject *handle = fb_object_get(ctx, self);
  const char *name = fb_function_struct_name(fb_function_struct(ctx, self));
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
  /* An instance of a subclass takes over the handle of another function by __move_handle_from__. */
  if (is_subclass) return fb_object_type_make(ctx, type, &fb_own_class_function);
  return fb_raise(ctx, ctx->h_TypeError,
                  "Function cannot be made directly: use ffi_hpy.convert(callable) or "
                  "ffi_hpy.get_global_func(name)");
}

HPyDef_SLOT(function_traverse, HPy_tp_traverse)
static int function_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  /* the struct has no Python references, but only GC-tracked objects can have deferred reference counts */
  (void)self, (void)visit, (void)arg;
  return 0;
}

HPy fb_function_wrap(HPyContext *ctx, TVMFFIObject *handle, const char *name) {
  /* A lookup by name makes a new wrapper, with its own settings and a reference count that threads do not share. */
  HPy h = name == NULL ? fb_wrap_object(ctx, handle) : fb_wrap_apart(ctx, handle);
  if (HPy_IsNull(h) || name == NULL || !fb_own_class_check(ctx, h, &fb_own_class_function)) return h;
  /* Only registered functions have a name, and threads share these. */
  if (fb_context_defers_refcounts) fb_function_call_count(fb_function_struct(ctx, h));
  if (name_first(ctx, fb_function_struct(ctx, h), name) == 0) return h;
  HPy_Close(ctx, h);
  return HPy_NULL;
}

HPyDef_METH(fb_function_method_descriptor, "method_descriptor", HPyFunc_VARARGS,
            .doc = "A Function as a method for a class: the instance is its first argument.")
static HPy fb_function_method_descriptor_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 1 && nargs != 5) {
    return fb_raise(ctx, ctx->h_TypeError, "method_descriptor() takes fn[, module, name, qualname, doc]");
  }
  if (!fb_own_class_check(ctx, args[0], &fb_own_class_function)) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "method_descriptor() argument 1 must be a Function, not %s",
                    fb_attr_type_name(ctx, args[0], given, sizeof(given)));
  }
  /* The extension exists: without method_new the module does not offer this function (set_up in module.c). */
  if (nargs == 5) {
    const FhpyMethodNames names = {args[1], args[2], args[3], args[4]};
    return fb_ext->method_new(ctx, args[0], &names);
  }
  HPy name = function_name_get(ctx, args[0], NULL);
  if (HPy_IsNull(name)) return name;
  const FhpyMethodNames names = {ctx->h_None, name, name, ctx->h_None};
  HPy method = fb_ext->method_new(ctx, args[0], &names);
  HPy_Close(ctx, name);
  return method;
}

bool fb_function_has_methods(void) {
  return fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, method_new) && fb_ext->method_new != NULL;
}

HPy fb_function_type_new(HPyContext *ctx, HPy base) {
  /* Three entries are left: for a destructor, a traverse slot, and the final NULL. Where objects have an owner,
   * fb_object_type_derive uses the first of them. */
  static HPyDef *defines[] = {&fb_native_call_slot,
                              &function_name,
                              &function_qualname,
                              &function_gil,
                              &function_about,
                              &fb_callback_callable,
                              &function_takes_python,
                              &function_is_operator,
                              &function_annotations,
                              &function_repr,
                              &function_new,
                              NULL,
                              NULL,
                              NULL};
  int n_defines = 11;
  static HPyType_Spec spec = {
      .name = "ffi_hpy.Function",
      .basicsize = sizeof(FbFunction),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbFunction),
      .defines = defines,
      .doc = "A native function, which any thread may call. A value that can be called becomes one on\n"
             "its way to native code.\n\n"
             "Arguments are converted by their classes, as convert() lists them. Keyword arguments use the\n"
             "names that the author has given the parameters; without such names they are a TypeError. An error\n"
             "of native code is raised as an exception. The GIL is released during the call where\n"
             "`release_gil` is true.\n\n"
             "A Function is not made directly, but by get_global_func(), convert_func(), or a module. An\n"
             "instance of a subclass has no function at first, and takes over the function of another instance\n"
             "by `__move_handle_from__`.\n\n"
             "Examples:\n"
             "    >>> size = ffi_hpy.get_global_func(\"ffi.ArraySize\")\n"
             "    >>> size([1, 2, 3])\n"
             "    3",
  };
  fb_function_call_set_vectorcall();
  if (!fb_object_has_owner) defines[n_defines++] = &function_destroy;
  /* Only the garbage collector frees objects with deferred reference counts, so the type must be GC-tracked. The
   * callable of a callback may refer to its Function. */
  if (fb_context_defers_refcounts || fb_context_collects) {
    defines[n_defines++] = &function_traverse;
    spec.flags |= HPy_TPFLAGS_HAVE_GC;
  }
  const char *by_default = getenv("TVM_FFI_RELEASE_GIL_BY_DEFAULT");
  if (by_default != NULL && strcmp(by_default, "0") == 0) fb_function_struct_last_release = FB_GIL_RELEASE;
  fb_function_call_settle();
  return fb_object_type_derive(ctx, &spec, base, &fb_own_class_function);
}

/* --- functions at an address -------------------------------------------------------------------------------------- */

/* Native functions that wrap a C function pointer. The closure is an Address, which the core frees together with the
 * function. The pointer is not checked. */

/* The signature that MLIR's execution engine compiles: every argument and the return code are passed as pointers to
 * variables. */
typedef void (*MlirCall)(void **variables);

/* Exactly one of the two calls is set. */
typedef struct Address {
  TVMFFISafeCallType safe_call; /* the C function; NULL for a function compiled by MLIR */
  MlirCall mlir_call;
  void *context;      /* the first argument of safe_call */
  FbPyOwner *keep_alive; /* NULL: nothing */
} Address;

static int address_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  const Address *address = self;
  return address->safe_call(address->context, args, n, result);
}

static int address_call_mlir(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  const Address *address = self;
  void *context = NULL;
  int rc = 0;
  /* The order of the parameters of TVMFFISafeCallType, then the return code. The handle is NULL. */
  void *variables[] = {&context, &args, &n, &result, &rc};
  address->mlir_call(variables);
  return rc;
}

/* Deleter for the core. Any thread may call it, like fb_py_owner_drop. */
static void address_drop(void *self) {
  Address *address = self;
  if (address->keep_alive != NULL) fb_py_owner_drop(address->keep_alive);
  free(address);
}

/* Makes the Function of an Address whose calls are filled in. The Function keeps args[1] alive, if it is given and not
 * None. */
static HPy function_of(HPyContext *ctx, Address filled, const HPy *args, size_t nargs, const char *maker) {
  Address *address = malloc(sizeof(*address));
  if (address == NULL) return HPyErr_NoMemory(ctx);
  *address = filled;
  if (nargs > 1 && !HPy_Is(ctx, args[1], ctx->h_None)) {
    address->keep_alive = fb_py_owner_new(ctx, args[1]);
    if (address->keep_alive == NULL) {
      free(address);
      return HPy_NULL;
    }
  }
  /* From here on address_drop releases everything. The core calls it with the function; without a function, this
   * function calls it. */
  TVMFFIObjectHandle handle = NULL;
  TVMFFISafeCallType call = address->mlir_call != NULL ? address_call_mlir : address_call;
  if (TVMFFIFunctionCreate(address, call, address_drop, &handle) != 0) {
    address_drop(address);
    return fb_error_raise_pending(ctx, maker);
  }
  return fb_function_wrap(ctx, handle, NULL);
}

/* Reads a pointer; 0 is accepted only if `may_be_null`. Returns 0, or -1 with an exception raised. */
static int read_address(HPyContext *ctx, HPy value, bool may_be_null, const char *maker, void **out) {
  *out = HPyLong_AsVoidPtr(ctx, value);
  if (*out != NULL || (may_be_null && !HPyErr_Occurred(ctx))) return 0;
  if (!HPyErr_Occurred(ctx)) fb_raise(ctx, ctx->h_ValueError, "%s() address must not be 0", maker);
  return -1;
}

HPyDef_METH(fb_address_function, "function_from_address", HPyFunc_VARARGS,
            .doc = "A Function around a C function of type TVMFFISafeCallType.")
static HPy fb_address_function_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  static const char name[] = "function_from_address";
  if (nargs < 1 || nargs > 3) {
    return fb_raise(ctx, ctx->h_TypeError, "function_from_address() takes address[, keep_alive[, context]]");
  }
  void *code, *context = NULL;
  if (read_address(ctx, args[0], false, name, &code) != 0) return HPy_NULL;
  if (nargs > 2 && read_address(ctx, args[2], true, name, &context) != 0) return HPy_NULL;
  /* ISO C has no cast from an object pointer to a function pointer, here and below. */
  Address filled = {.context = context};
  memcpy(&filled.safe_call, &code, sizeof(code));
  return function_of(ctx, filled, args, nargs, name);
}

HPyDef_METH(fb_address_mlir_function, "function_from_mlir", HPyFunc_VARARGS,
            .doc = "A Function around a function that MLIR compiled from one of type TVMFFISafeCallType.")
static HPy fb_address_mlir_function_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  static const char name[] = "function_from_mlir";
  if (nargs < 1 || nargs > 2) {
    return fb_raise(ctx, ctx->h_TypeError, "function_from_mlir() takes address[, keep_alive]");
  }
  void *code;
  if (read_address(ctx, args[0], false, name, &code) != 0) return HPy_NULL;
  Address filled = {.context = NULL};
  memcpy(&filled.mlir_call, &code, sizeof(code));
  return function_of(ctx, filled, args, nargs, name);
}
