/* InitFunction: the function behind an `__init__` that is a C method (method_new of the extension).
 *
 * The function handles the most common calls itself: a new instance of exactly the class, or of a class of Python below
 * it, of which a Function has made an instance before; and arguments of the object, with interned names if they are
 * keyword arguments. For any other call it calls the `__init__` written in Python,
 * which handles all calls and reports errors. So both must behave identically in the case that they share. The function
 * exists only with the extension, where a handle is an object pointer. */
#include "hpy_module/context/call.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "hpy_module/function/function.h"
#include "hpy_module/function/function_call.h"
#include "hpy_module/function/native_call.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/transfer.h"
#include "hpy_module/object/type_tag.h"
#include "record.h"

/* Constant once it is made. The struct's references are never released: it belongs to the class of a native type, which
 * lives as long as the process. */
typedef struct InitFunction {
  intptr_t cls;       /* the type word of the class (extension.h) */
  FbRef written;      /* the function written in Python */
  FbRef initializer;  /* an Initializer; empty: `constructor` is set */
  FbRef constructor;  /* a Function that returns the object */
} InitFunction;

HPyType_HELPERS(InitFunction)

/* Makes the object and stores it in the instance. Returns 0; -1 with an exception raised; or 1 without a change if the
 * function written in Python must handle the call. */
static int make(HPyContext *ctx, const InitFunction *self, HPy instance, const HPy *args, size_t n, HPy kwnames) {
  if (!HPy_IsNull(self->initializer.handle))
    return fb_initializer_make(ctx, self->initializer.handle, instance, args, n, kwnames);
  TVMFFIAny made;
  int rc = HPy_IsNull(kwnames) ? fb_function_call_raw(ctx, self->constructor.handle, args, n, &made)
                               : fb_native_call_named_raw(ctx, self->constructor.handle, args, n, kwnames, &made);
  if (rc != 0) return rc;
  if (FH_LIKELY(made.type_index >= kTVMFFIStaticObjectBegin)) return fb_transfer_put(ctx, instance, made.v_obj);
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_OBJECT, fb_function_name(ctx, self->constructor.handle),
           (int)made.type_index);
  return -1;
}

/* Whether a call is one of these: the class is the right one, and the instance has no object yet. */
FH_INLINE bool is_common(HPyContext *ctx, HPy h, const InitFunction *self, HPy instance) {
  if (FH_UNLIKELY(fb_type_tag_type(instance) != self->cls)) {
    const FbTypeTagEntry *entry = fb_type_tag_find(instance);
    if (entry == NULL || fh_atomic_load_relaxed(&entry->accepted) != h._i) return false; /* only compared */
  }
  return fb_object_get(ctx, instance) == NULL;
}

/* Calls the function written in Python. If it accepts an instance of a class of Python, it does so for all instances,
 * unless the class is registered for a type. A Function gets its handle in another way than other objects. */
static FH_NOINLINE HPy call_written(HPyContext *ctx, HPy h, const InitFunction *self, const HPy *args, size_t nargs,
                                    HPy kwnames) {
  intptr_t type = nargs == 0 ? 0 : fb_type_tag_type(args[0]);
  HPy result = fb_call(ctx, self->written.handle, args, nargs, kwnames);
  if (HPy_IsNull(result) || HPy_IsNull(self->constructor.handle) || type == 0 || type == self->cls) return result;
  if (fb_type_tag_type(args[0]) != type || fb_own_class_check(ctx, args[0], &fb_own_class_function)) return result;
  if (!fb_own_class_check(ctx, args[0], &fb_own_class_object)) return result;
  FbTypeTagEntry *entry = fb_type_tag_learn_class(ctx, (HPy){type});
  if (entry != NULL) fh_atomic_store_relaxed(&entry->accepted, h._i);
  return result;
}

HPyDef_SLOT(init_call, HPy_tp_call)
static HPy init_call_impl(HPyContext *ctx, HPy h, const HPy *args, size_t nargs, HPy kwnames) {
  const InitFunction *self = InitFunction_AsStruct(ctx, h);
  if (FH_UNLIKELY(HPy_IsNull(self->written.handle))) return fb_instance_raise_unmade(ctx, h);
  int rc = nargs > 0 && is_common(ctx, h, self, args[0]) ? make(ctx, self, args[0], args + 1, nargs - 1, kwnames) : 1;
  if (FH_UNLIKELY(rc > 0)) return call_written(ctx, h, self, args, nargs, kwnames);
  return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

/* init_call as a vectorcall. */
static cpy_PyObject *init_vectorcall(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf,
                                     cpy_PyObject *kwnames) {
  size_t n = fb_call_n_args(nargsf);
  HPy result = init_call_impl(fb_ctx, (HPy){(intptr_t)self}, (const HPy *)args, n, (HPy){(intptr_t)kwnames});
  return (cpy_PyObject *)result._i;
}

/* The method shows the attributes of this object. inspect of CPython 3.13 reads a signature from it only if it has one
 * of its own, which the function written in Python may leave to its `__wrapped__`. */
HPyDef_GET(init_wrapped, "__wrapped__", .doc = "The function written in Python, or the object that describes it.")
static HPy init_wrapped_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  const InitFunction *function = InitFunction_AsStruct(ctx, self);
  if (HPy_IsNull(function->written.handle)) return fb_instance_raise_unmade(ctx, self);
  HPy written = fb_ref_load(ctx, &function->written);
  if (HPy_IsNull(written) || !HPy_HasAttr_s(ctx, written, "__wrapped__")) return written;
  HPy described = HPy_GetAttr_s(ctx, written, "__wrapped__");
  HPy_Close(ctx, written);
  return described;
}

HPyDef_GET(init_described, "__nb_signature__", .doc = "The description of a bound constructor, for tools.")
static HPy init_described_get(HPyContext *ctx, HPy self, void *closure) {
  HPy described = init_wrapped_get(ctx, self, closure);
  if (HPy_IsNull(described)) return described;
  HPy found = HPy_GetAttr_s(ctx, described, "__nb_signature__");
  HPy_Close(ctx, described);
  return found;
}

static FbRef init_function_type; /* written once during the import */

FB_METHOD(fb_init_method, "init_method",
          "`__init__` for a class: written(self, ...), without Python code in the commonest case.") {
  if (nargs != 7)
    return fb_raise(ctx, ctx->h_TypeError, "init_method() takes cls, written, maker, module, name, qualname, doc");
  bool is_function = fb_own_class_check(ctx, args[2], &fb_own_class_function);
  if (!is_function && !fb_initializer_check(ctx, args[2]))
    return fb_raise(ctx, ctx->h_TypeError, "init_method() argument 3 must be an Initializer or a Function");
  void *data;
  HPy h = fb_instance_make(ctx, init_function_type.handle, &init_function_type, &data);
  if (HPy_IsNull(h)) return h;
  InitFunction *made = data;
  made->cls = args[0]._i;
  fb_ref_store(ctx, is_function ? &made->constructor : &made->initializer, args[2]);
  fb_ref_store(ctx, &made->written, args[1]);
  const FhpyMethodNames names = {args[3], args[4], args[5], args[6]};
  HPy method = fb_ext->method_new(ctx, h, &names);
  /* Threads that make objects share both, and the class keeps both alive. */
  fb_context_keep(h);
  if (!HPy_IsNull(method)) fb_context_keep(method);
  HPy_Close(ctx, h);
  return method;
}

HPy fb_init_method_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&init_call, &init_wrapped, &init_described, NULL};
  static HPyType_Spec spec = FB_TYPE_SPEC(InitFunction, "InitFunction", HPy_TPFLAGS_DEFAULT, defines,
                                          "The callable of an `__init__` without Python code.");
  if (fb_ext != NULL) init_call.slot.cpy_trampoline = (cpy_PyCFunction)(void (*)(void))init_vectorcall;
  return fb_type_new_root(ctx, &spec, &init_function_type);
}
