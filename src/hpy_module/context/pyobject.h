/* The interpreter's own object pointers, which the C interfaces of other libraries take and give.
 *
 * On our runtime a handle is such a pointer. Elsewhere the context translates; not on PyPy 7.3, where handles and the
 * objects of its C API are different things and nothing here may be called. */
#ifndef FFI_HPY_CONTEXT_PYOBJECT_H_
#define FFI_HPY_CONTEXT_PYOBJECT_H_

#include "context.h"

/* Slow ends of the functions below. */
void fb_pyobject_release(void *object);
HPy fb_pyobject_translate(HPyContext *ctx, void *object);

/* The object behind a handle, valid while the handle is open and until fb_pyobject_end. */
FH_INLINE void *fb_pyobject_begin(HPyContext *ctx, HPy h) {
  return FH_LIKELY(fb_ext != NULL) ? (void *)h._i : (void *)HPy_AsPyObject(ctx, h);
}
FH_INLINE void fb_pyobject_end(void *object) {
  if (FH_UNLIKELY(fb_ext == NULL)) fb_pyobject_release(object);
}

/* A handle for an object that the caller owns a reference to, which is taken. HPy_NULL with an exception raised. */
FH_INLINE HPy fb_pyobject_take(HPyContext *ctx, void *object) {
  return FH_LIKELY(fb_ext != NULL) ? (HPy){(intptr_t)object} : fb_pyobject_translate(ctx, object);
}
/* The reverse: the handle (taken) becomes a reference that the caller owns. */
FH_INLINE void *fb_pyobject_give(HPyContext *ctx, HPy h) {
  void *object = fb_pyobject_begin(ctx, h);
  if (FH_UNLIKELY(fb_ext == NULL)) HPy_Close(ctx, h);
  return object;
}
/* A handle of its own for an object that somebody else holds. */
FH_INLINE HPy fb_pyobject_borrow(HPyContext *ctx, void *object) {
  return FH_LIKELY(fb_ext != NULL) ? HPy_Dup(ctx, (HPy){(intptr_t)object}) : HPy_FromPyObject(ctx, object);
}

#endif /* FFI_HPY_CONTEXT_PYOBJECT_H_ */
