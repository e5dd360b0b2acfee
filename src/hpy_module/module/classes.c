/* class_register(), class_offer(): access from Python to the table of classes. */
#include "parts.h"

#include "hpy_module/context/raise.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/own_class.h"
#include "hpy_module/object/preserve.h"

/* Returns 1 if a type of the binding is in cls.__mro__; 0 if not, or if cls is not a class; -1 with an exception
 * raised. Does not call issubclass(), which a metaclass may override. */
static int derives_from(HPyContext *ctx, HPy cls, const FbRef *type) {
  if (!HPy_TypeCheck(ctx, cls, ctx->h_TypeType)) return 0;
  HPy mro = HPy_GetAttr_s(ctx, cls, "__mro__");
  if (HPy_IsNull(mro)) return -1;
  HPy base = fb_ref_load(ctx, type);
  int found = HPy_Contains(ctx, mro, base);
  HPy_Close(ctx, base);
  HPy_Close(ctx, mro);
  return found;
}

/* Stores args[1] for the type index args[0]. Returns the index, or -1 with an exception raised. */
static int32_t store_args(HPyContext *ctx, const char *name, const HPy *args, size_t nargs, bool replaces) {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "%s() takes 2 arguments, got %zu", name, nargs), -1;
  int32_t index = HPyLong_AsInt32_t(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return -1;
  /* Code that gets a wrapper relies on CObject's struct at its beginning. A call of a Function does not check the type
   * of its handle, so a class of functions must not be the class of another type. */
  int derives = derives_from(ctx, args[1], &fb_own_class_object);
  int is_function = derives > 0 && index != kTVMFFIFunction ? derives_from(ctx, args[1], &fb_own_class_function) : 0;
  if (derives < 0 || is_function < 0) return -1;
  if (derives == 0) return fb_raise(ctx, ctx->h_TypeError, "%s() argument 2 must derive from CObject", name), -1;
  if (is_function != 0) {
    return fb_raise(ctx, ctx->h_TypeError, "a class that derives from Function is for functions only"), -1;
  }
  if (index < 0 || index >= FB_CLASS_TABLE_MAX)
    return fb_raise(ctx, ctx->h_ValueError, "%d is not a type index", (int)index), -1;
  if (fb_class_table_store(ctx, index, args[1], replaces) != 0) return -1;
  fb_preserve_watch(args[1], true);
  return index;
}

HPyDef_METH(fb_classes_made, "class_made", HPyFunc_O,
            .doc = "Watch the end of instances of a class that was made, or has got __del__.")
static HPy fb_classes_made_impl(HPyContext *ctx, HPy self, HPy cls) {
  (void)self;
  int derives = derives_from(ctx, cls, &fb_own_class_object);
  if (derives < 0) return HPy_NULL;
  if (derives == 0) return fb_raise(ctx, ctx->h_TypeError, "class_made() argument must derive from CObject");
  fb_preserve_watch(cls, false);
  return HPy_Dup(ctx, ctx->h_None);
}

HPyDef_METH(fb_classes_register, "class_register", HPyFunc_VARARGS,
            .doc = "Native objects of a type become instances of a class from now on.")
static HPy fb_classes_register_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  return store_args(ctx, "class_register", args, nargs, true) >= 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

HPyDef_METH(
    fb_classes_offer, "class_offer", HPyFunc_VARARGS,
    .doc =
        "Registers a class for a type that has none; None registers nothing. Returns the class of the type, or None.")
static HPy fb_classes_offer_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  bool is_offer = nargs != 2 || !HPy_Is(ctx, args[1], ctx->h_None);
  int32_t index = is_offer ? store_args(ctx, "class_offer", args, nargs, false) : HPyLong_AsInt32_t(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const FbRef *cls = fb_class_table_find(index); /* not args[1]: the class that was registered first counts */
  return cls == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_ref_load(ctx, cls);
}
