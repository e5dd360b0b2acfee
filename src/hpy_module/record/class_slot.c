/* Slots of classes that call a Function of native code at once: calls of a class, and steps of an iteration. */
#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/function/function.h"
#include "hpy_module/function/function_call.h"
#include "hpy_module/function/native_call.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"
#include "record.h"

/* --- calls of classes --------------------------------------------------------------------------------------------- */

/* Calls of classes: a vectorcall in place of type.__call__, for a class whose instances one Function or one Initializer
 * makes.
 *
 * type.__call__ calls __new__ and __init__, which makes an empty wrapper first. A call of such a class makes the native
 * object first and its wrapper last, without a tuple of arguments. A class of Python that derives from it is called as
 * usual. Both ways have the same effect. Keyword arguments that do not fit are passed in the usual way, which raises
 * the error. */

/* type.__call__(cls, ...) */
static FH_NOINLINE HPy call_usually(HPyContext *ctx, HPy cls, const HPy *args, size_t n, HPy kwnames) {
  size_t n_all = n + (HPy_IsNull(kwnames) ? 0 : (size_t)HPy_Length(ctx, kwnames));
  HPy *all = malloc((n_all + 1) * sizeof(*all));
  if (all == NULL) return HPyErr_NoMemory(ctx);
  all[0] = cls;
  memcpy(all + 1, args, n_all * sizeof(*all));
  HPy call = HPy_GetAttr_s(ctx, ctx->h_TypeType, "__call__");
  HPy made = HPy_IsNull(call) ? HPy_NULL : fb_call(ctx, call, all, n + 1, kwnames);
  if (!HPy_IsNull(call)) HPy_Close(ctx, call);
  free(all);
  return made;
}

static HPy call_class(HPyContext *ctx, HPy cls, const HPy *args, size_t n, HPy kwnames) {
  FbTypeTagEntry *entry = fb_type_tag_find_type(cls._i);
  /* acquire: pairs with fb_class_call_impl */
  HPy constructor = {entry == NULL ? 0 : fh_atomic_load_acquire(&entry->constructor)};
  if (FH_UNLIKELY(HPy_IsNull(constructor))) return call_usually(ctx, cls, args, n, kwnames);
  TVMFFIAny made;
  int rc = HPy_IsNull(kwnames) ? fb_function_call_raw(ctx, constructor, args, n, &made)
                               : fb_native_call_named_raw(ctx, constructor, args, n, kwnames, &made);
  if (FH_UNLIKELY(rc != 0)) return rc < 0 ? HPy_NULL : call_usually(ctx, cls, args, n, kwnames);
  if (FH_LIKELY(made.type_index >= kTVMFFIStaticObjectBegin)) return fb_wrap_made(ctx, cls, made.v_obj);
  return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_OBJECT, fb_function_name(ctx, constructor),
                  (int)made.type_index);
}

/* Like call_class, for a class whose instances an Initializer makes. */
static HPy call_initialized(HPyContext *ctx, HPy cls, const HPy *args, size_t n, HPy kwnames) {
  FbTypeTagEntry *entry = fb_type_tag_find_type(cls._i);
  /* acquire: pairs with fb_class_call_impl */
  HPy initializer = {entry == NULL ? 0 : fh_atomic_load_acquire(&entry->initializer)};
  if (FH_UNLIKELY(HPy_IsNull(initializer))) return call_usually(ctx, cls, args, n, kwnames);
  TVMFFIObject *made;
  int rc = fb_initializer_make_object(ctx, initializer, args, n, kwnames, &made);
  if (FH_LIKELY(rc == 0)) return fb_wrap_made(ctx, cls, made);
  return rc < 0 ? HPy_NULL : call_usually(ctx, cls, args, n, kwnames);
}

static cpy_PyObject *vectorcall(cpy_PyObject *cls, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames) {
  HPy made =
      call_class(fb_ctx, (HPy){(intptr_t)cls}, (const HPy *)args, fb_call_n_args(nargsf), (HPy){(intptr_t)kwnames});
  return (cpy_PyObject *)made._i;
}

static cpy_PyObject *vectorcall_initialized(cpy_PyObject *cls, cpy_PyObject *const *args, size_t nargsf,
                                            cpy_PyObject *kwnames) {
  HPy made = call_initialized(fb_ctx, (HPy){(intptr_t)cls}, (const HPy *)args, fb_call_n_args(nargsf),
                              (HPy){(intptr_t)kwnames});
  return (cpy_PyObject *)made._i;
}

FB_METHOD(fb_class_call, "class_call",
          "Let a Function or an Initializer make the instances of exactly a class; None: type.__call__ does.") {
  bool is_function = nargs == 2 && fb_own_class_check(ctx, args[1], &fb_own_class_function);
  bool is_maker = is_function || (nargs == 2 && fb_initializer_check(ctx, args[1]));
  if (nargs != 2 || !HPy_TypeCheck(ctx, args[0], ctx->h_TypeType) || (!is_maker && !HPy_Is(ctx, args[1], ctx->h_None)))
    return fb_raise(ctx, ctx->h_TypeError, "class_call() takes a class, and a Function, an Initializer or None");
  (void)fb_ext->class_call(args[0], NULL);
  FbTypeTagEntry *entry = is_maker ? fb_type_tag_learn_class(ctx, args[0]) : NULL;
  if (entry == NULL) return HPy_Dup(ctx, ctx->h_None);
  HPy maker = HPy_Dup(ctx, args[1]); /* never released: the class is that of a native type */
  fb_context_keep(maker);
  fh_atomic_store_release(is_function ? &entry->constructor : &entry->initializer, maker._i);
  (void)fb_ext->class_call(args[0], (void (*)(void))(is_function ? vectorcall : vectorcall_initialized));
  return HPy_Dup(ctx, ctx->h_None);
}

/* --- iteration ---------------------------------------------------------------------------------------------------- */

/* Steps of an iteration: a tp_iternext for a class with a bound method `__next__`, in place of the interpreter's, which
 * looks the method up and calls its descriptor. */

/* For an entry that is being moved. */
static FH_NOINLINE HPy next_by_name(HPyContext *ctx, HPy self) {
  HPy method = HPy_GetAttr_s(ctx, self, "__next__");
  if (HPy_IsNull(method)) return method;
  HPy item = fb_call(ctx, method, NULL, 0, HPy_NULL);
  HPy_Close(ctx, method);
  return item;
}

static cpy_PyObject *iternext(cpy_PyObject *iterator) {
  HPy self = {(intptr_t)iterator};
  const FbTypeTagEntry *entry = fb_type_tag_find(self);
  HPy function = {entry == NULL ? 0 : fh_atomic_load_acquire(&entry->next_item)}; /* pairs with fb_class_next_impl */
  HPy item = HPy_IsNull(function) ? next_by_name(fb_ctx, self) : fb_function_call_object(function, self);
  return (cpy_PyObject *)item._i;
}

FB_METHOD(fb_class_next, "class_next",
          "Let a Function, the method `__next__` of exactly a class, make the steps of an iteration.") {
  if (nargs != 2 || !HPy_TypeCheck(ctx, args[0], ctx->h_TypeType) ||
      !fb_own_class_check(ctx, args[1], &fb_own_class_function))
    return fb_raise(ctx, ctx->h_TypeError, "class_next() takes a class and a Function");
  FbTypeTagEntry *entry = fb_type_tag_learn_class(ctx, args[0]);
  if (entry == NULL || entry->kind != FB_TYPE_KIND_OBJECT) return HPy_Dup(ctx, ctx->h_None);
  HPy function = HPy_Dup(ctx, args[1]); /* never released: the class is that of a native type */
  fb_context_keep(function);
  fh_atomic_store_release(&entry->next_item, function._i);
  (void)fb_ext->class_next(args[0], (void (*)(void))iternext);
  return HPy_Dup(ctx, ctx->h_None);
}
