/* Making the classes whose instances own a handle: CObject and what derives from it. */
#ifndef FFI_HPY_OBJECT_OBJECT_TYPE_H_
#define FFI_HPY_OBJECT_OBJECT_TYPE_H_

#include "hpy_module/context/instance.h"
#include "object.h"

/* Ends an object of which a wrapper that ends has the only reference, where there is a shorter way than its deleter,
 * and tells whether it did. On an attached thread, with the extension. Written once during the import. */
extern bool (*fb_object_type_end_only)(TVMFFIObject *object);

/* CObject, from a spec whose `defines` have room for one more entry before the final NULL. Called first: it learns
 * what this folder must know of the interpreter. New handle, or HPy_NULL with an exception raised. */
HPy fb_object_type_base(HPyContext *ctx, HPyType_Spec *spec);
/* A derived class, from a spec whose `defines` have room for one more entry; it is kept in *own. New handle, or
 * HPy_NULL with an exception raised. */
HPy fb_object_type_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base, FbRef *own);

/* An instance of cls for the tp_new of a class. */
FH_INLINE HPy fb_object_type_make(HPyContext *ctx, HPy cls, const FbRef *own) {
  void *data;
  HPy h = fb_instance_make(ctx, cls, own, &data);
  if (FH_LIKELY(!HPy_IsNull(h)) && !fb_object_has_owner) {
    fb_handle_cell_set_listing(&((FbObject *)data)->cell, FB_UNLISTABLE);
  }
  return h;
}

/* Defines NAME_new, the tp_new of the class that is kept in OWN. PyPy does not inherit a tp_new, and each accepts
 * subclasses of its own class only. */
#define FB_OBJECT_NEW(NAME, OWN)                                                                      \
  HPyDef_SLOT(NAME##_new, HPy_tp_new)                                                                 \
  static HPy NAME##_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) { \
    (void)args, (void)nargs, (void)kw; /* they are for __init__ */                                    \
    return fb_object_type_make(ctx, type, &(OWN));                                                    \
  }

#endif /* FFI_HPY_OBJECT_OBJECT_TYPE_H_ */
