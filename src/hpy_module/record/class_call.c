/* Calls of classes: a vectorcall in place of type.__call__, for a class whose instances one Function makes.
 *
 * type.__call__ calls __new__ and __init__, which makes an empty wrapper first. A call of such a class makes the native
 * object first and its wrapper last, without a tuple of arguments. A class of Python that derives from it is called as
 * usual. Both ways have the same effect. Keyword arguments that do not fit the Function are passed in the usual way,
 * which raises the error. */
#include "record.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/function/function.h"
#include "hpy_module/function/function_call.h"
#include "hpy_module/object/own_class.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"

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
                               : fb_function_call_named_raw(ctx, constructor, args, n, kwnames, &made);
  if (FH_UNLIKELY(rc != 0)) return rc < 0 ? HPy_NULL : call_usually(ctx, cls, args, n, kwnames);
  if (FH_LIKELY(made.type_index >= kTVMFFIStaticObjectBegin)) return fb_wrap_made(ctx, cls, made.v_obj);
  return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_OBJECT, fb_function_name(ctx, constructor),
                  (int)made.type_index);
}

static cpy_PyObject *vectorcall(cpy_PyObject *cls, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames) {
  const size_t offset_flag = (size_t)1 << (8 * sizeof(size_t) - 1); /* see n_of in function_call.c */
  HPy made =
      call_class(fb_ctx, (HPy){(intptr_t)cls}, (const HPy *)args, nargsf & ~offset_flag, (HPy){(intptr_t)kwnames});
  return (cpy_PyObject *)made._i;
}

HPyDef_METH(fb_class_call, "class_call", HPyFunc_VARARGS,
            .doc = "Let a Function make the instances of exactly a class; None: type.__call__ makes them.")
static HPy fb_class_call_impl(HPyContext *ctx, HPy module, const HPy *args, size_t nargs) {
  (void)module;
  bool is_function = nargs == 2 && fb_own_class_check(ctx, args[1], &fb_own_class_function);
  if (nargs != 2 || !HPy_TypeCheck(ctx, args[0], ctx->h_TypeType) ||
      (!is_function && !HPy_Is(ctx, args[1], ctx->h_None)))
    return fb_raise(ctx, ctx->h_TypeError, "class_call() takes a class, and a Function or None");
  (void)fb_ext->class_call(args[0], NULL);
  FbTypeTagEntry *entry = is_function ? fb_type_tag_learn_class(ctx, args[0]) : NULL;
  if (entry == NULL) return HPy_Dup(ctx, ctx->h_None);
  HPy constructor = HPy_Dup(ctx, args[1]); /* never released: the class is that of a native type */
  fb_context_keep(constructor);
  fh_atomic_store_release(&entry->constructor, constructor._i);
  (void)fb_ext->class_call(args[0], (void (*)(void))vectorcall);
  return HPy_Dup(ctx, ctx->h_None);
}
