/* Makes the classes whose instances own a handle: CObject and its subclasses. */
#pragma once

#include "hpy_module/context/type.h"
#include "object.h"

/* Destroys an object of which a dying wrapper has the only reference, if there is a faster way than the object's
 * deleter. Returns whether it did. Called on an attached thread, with the extension. Written once during the import. */
extern bool (*fb_object_type_end_only)(TVMFFIObject *object);

/* Makes CObject from a spec whose `defines` have room for one more entry before the final NULL. Called first, because
 * it determines this folder's facts about the interpreter. Returns a new handle, or HPy_NULL with an exception
 * raised. */
HPy fb_object_type_base(HPyContext *ctx, HPyType_Spec *spec);
/* Makes a derived class from a spec whose `defines` have room for one more entry, and stores it in *own. Returns a new
 * handle, or HPy_NULL with an exception raised. */
HPy fb_object_type_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base, FbRef *own);
/* Makes a derived class whose instances have only the handle, as fb_object_type_derive. */
HPy fb_object_type_plain(HPyContext *ctx, const char *name, const char *doc, HPyDef **defines, HPy base, FbRef *own);

/* Makes an instance of cls, for the tp_new of a class. */
FH_INLINE HPy fb_object_type_make(HPyContext *ctx, HPy cls, const FbRef *own) {
  void *data;
  HPy h = fb_instance_make(ctx, cls, own, &data);
  if (FH_LIKELY(!HPy_IsNull(h)) && !fb_object_has_owner) {
    fb_handle_cell_set_listing(&((FbObject *)data)->cell, FB_UNLISTABLE);
  }
  return h;
}

/* Defines NAME_new, the tp_new of the class in OWN. PyPy does not inherit tp_new, and each tp_new accepts only
 * subclasses of its own class. */
#define FB_OBJECT_NEW(NAME, OWN)                                                                      \
  HPyDef_SLOT(NAME##_new, HPy_tp_new)                                                                 \
  static HPy NAME##_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) { \
    (void)args, (void)nargs, (void)kw; /* they are for __init__ */                                    \
    return fb_object_type_make(ctx, type, &(OWN));                                                    \
  }
/* Defines NAME_type, which a NAME_type_new writes once during the import, and NAME_new. */
#define FB_OBJECT_CLASS(NAME) \
  static FbRef NAME##_type;   \
  FB_OBJECT_NEW(NAME, NAME##_type)
