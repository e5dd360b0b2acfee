/* Which wrapper stands for a native object while it lives, so that `a.x is a.x`.
 *
 * A table leads from a native object to its listed wrapper, without keeping that alive. A wrapper is listed as soon as
 * anybody else may have a reference to its object: when it is made, if the reference count says so, else when it is first
 * handed out (passed to a call, asked for its address). Until then nobody can come by with the object, so that an object
 * that stays with its maker costs nothing here.
 *
 * A wrapper is taken out when it is destroyed, under the lock of its place in the table, and when its handle is moved away
 * or lent for that: what comes back from there is a new wrapper. A second wrapper of an object exists where somebody asked
 * for one of his own (fb_wrap_apart); it is listed once no other is.
 *
 * The table's pointers are to memory, because a destructor takes out its own. Whether the wrapper behind one is still
 * alive says reference_try of the runtime's extension. PyPy 7.3 has none and cannot say; there the table has
 * weak references beside it (identity_weak.c). In debug modes there is no table: every wrapper is one of its own.
 *
 * Without memory a wrapper stays unlisted, which costs its identity and nothing else. */
#ifndef FFI_HPY_OBJECT_IDENTITY_H_
#define FFI_HPY_OBJECT_IDENTITY_H_

#include <tvm/ffi/c_api.h>

#include "handle_cell.h"

extern bool fb_identity_is_kept; /* whether there is a table; written once during the import */

int fb_identity_init(HPyContext *ctx);

/* Whether anybody but the owner of one reference may have one: strong or weak, of native code. */
FB_INLINE bool fb_identity_is_shared(TVMFFIObject *handle) {
  const uint64_t only_one = UINT64_C(1) << 32 | 1; /* one strong reference, and the weak one that belongs to it */
  /* relaxed: the count of who has the only reference is changed by nobody else */
  return atomic_load_explicit((_Atomic(uint64_t) *)&handle->combined_ref_count, memory_order_relaxed) != only_one;
}

/* The listed wrapper of an object: new handle, HPy_NULL if there is none. The caller owns a reference to the object. */
HPy fb_identity_find(HPyContext *ctx, TVMFFIObject *handle);

/* Lists self, whose place it is; the caller has a use of it. If another wrapper is listed that one stays, and is
 * returned (new handle); else HPy_NULL. */
HPy fb_identity_list(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Takes the listed wrapper of the place's object out, whichever it is. For who has claimed the place, or destroys it. */
void fb_identity_unlist(FbHandleCell *cell);
/* The same if it is the place's own. */
void fb_identity_unlist_own(FbHandleCell *cell);

void fb_identity_share_slow(HPyContext *ctx, HPy self, FbHandleCell *cell);
/* Before others get a reference to the object; the caller has a use of the place. */
FB_INLINE void fb_identity_share(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  /* relaxed: who lists it looks again, with the lock */
  if (FH_LIKELY(atomic_load_explicit(&cell->listing, memory_order_relaxed) != FB_UNLISTED)) return;
  fb_identity_share_slow(ctx, self, cell);
}

#endif /* FFI_HPY_OBJECT_IDENTITY_H_ */
