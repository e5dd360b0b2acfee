/* Strong references to Python objects from outside any Python object. */
#ifndef FFI_HPY_CONTEXT_REF_H_
#define FFI_HPY_CONTEXT_REF_H_

#include "context.h"

/* One owned reference that outlives the call that made it. Zero-initialised is empty.
 *
 * It is simply a handle where handles may be kept (fb_context_keeps_handles), and an HPyGlobal elsewhere. PyPy 7.3,
 * which does not release what an HPyGlobal held, is of the first kind. Reads may race with reads; a reference that is
 * overwritten or cleared must not be in use by another thread. */
typedef struct FbRef {
  HPy handle;
  HPyGlobal global;
} FbRef;

/* Fills an empty reference. */
void fb_ref_store(HPyContext *ctx, FbRef *ref, HPy h);
/* New handle; HPy_NULL if the reference is empty. */
HPy fb_ref_load(HPyContext *ctx, const FbRef *ref);
/* A borrowed handle, for as long as the reference stays; it ends with fb_ref_return. */
FH_INLINE HPy fb_ref_borrow(HPyContext *ctx, const FbRef *ref) {
  return FH_LIKELY(fb_context_keeps_handles) ? ref->handle : fb_ref_load(ctx, ref);
}
FH_INLINE void fb_ref_return(HPyContext *ctx, HPy borrowed) {
  if (FH_UNLIKELY(!fb_context_keeps_handles)) HPy_Close(ctx, borrowed);
}
/* Drops what the reference is to, and leaves it empty. */
void fb_ref_clear(HPyContext *ctx, FbRef *ref);

#endif /* FFI_HPY_CONTEXT_REF_H_ */
