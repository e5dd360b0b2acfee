/* Strong references to Python objects, stored outside of Python objects. */
#ifndef FFI_HPY_CONTEXT_REF_H_
#define FFI_HPY_CONTEXT_REF_H_

#include "context.h"

/* An owned reference that outlives the call that made it. Zero-initialised is empty.
 *
 * The reference is a handle where handles may be kept (fb_context_keeps_handles), and an HPyGlobal elsewhere. PyPy 7.3,
 * which does not release the object of an HPyGlobal, uses handles. Concurrent reads are allowed; while a reference is
 * overwritten or cleared, no other thread may use it. */
typedef struct FbRef {
  HPy handle;
  HPyGlobal global;
} FbRef;

/* Fills an empty reference. */
void fb_ref_store(HPyContext *ctx, FbRef *ref, HPy h);
/* Returns a new handle; HPy_NULL if the reference is empty. */
HPy fb_ref_load(HPyContext *ctx, const FbRef *ref);
/* Returns a borrowed handle, valid as long as the reference; fb_ref_return ends the borrow. */
FH_INLINE HPy fb_ref_borrow(HPyContext *ctx, const FbRef *ref) {
  return FH_LIKELY(fb_context_keeps_handles) ? ref->handle : fb_ref_load(ctx, ref);
}
FH_INLINE void fb_ref_return(HPyContext *ctx, HPy borrowed) {
  if (FH_UNLIKELY(!fb_context_keeps_handles)) HPy_Close(ctx, borrowed);
}
/* Releases the object and leaves the reference empty. */
void fb_ref_clear(HPyContext *ctx, FbRef *ref);

#endif /* FFI_HPY_CONTEXT_REF_H_ */
