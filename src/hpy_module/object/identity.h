/* Which wrapper stands for a native object while it lives, so that `a.x is a.x`.
 *
 * A table leads from a native object to its listed wrapper, and does not keep the wrapper alive. A wrapper is listed as
 * soon as anybody else may have a reference to its object. That is when the wrapper is made, if the reference count
 * says so; else when the object is first shared: passed to a call, or asked for its address. Until then nobody can
 * bring the object back, so that an object which stays with its maker costs nothing here.
 *
 * A wrapper is taken out when it is destroyed, under the lock of its stripe of the table, and when its handle is moved
 * away or offered to a call: if the object comes back from there, it gets a new wrapper. An object has a second wrapper
 * where a caller asked for one (fb_wrap_apart); that one is listed once no other is.
 *
 * The table points to memory, because a destructor takes out its own entry. reference_try of the runtime's extension
 * tells whether the wrapper behind an entry is still alive. PyPy 7.3 has no such function; there the table has weak
 * references beside it (identity_weak.c). In debug modes there is no table: every wrapper is one of its own.
 *
 * Without memory a wrapper stays unlisted, which costs its identity and nothing else. */
#ifndef FFI_HPY_OBJECT_IDENTITY_H_
#define FFI_HPY_OBJECT_IDENTITY_H_

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "handle_cell.h"
#include "hpy_module/context/any.h"

extern bool fb_identity_is_kept; /* whether there is a table; written once during the import */

int fb_identity_init(HPyContext *ctx);

/* Whether anybody but the owner of one reference may have one: strong or weak, of native code. */
FH_INLINE bool fb_identity_is_shared(TVMFFIObject *handle) {
  /* relaxed: an owner of the only reference is the only one that can change the count */
  return fh_atomic_load_relaxed(&handle->combined_ref_count) != FB_ONLY_REFERENCE;
}

/* The listed wrapper of an object: new handle, HPy_NULL if there is none. Somebody else keeps the object alive. */
HPy fb_identity_find(HPyContext *ctx, TVMFFIObject *handle);
/* As fb_identity_find, in exchange for a reference of the caller's, who keeps it if there is none: a wrapper that is
 * given out again (fb_handle_cell_give_again). */
HPy fb_identity_trade(HPyContext *ctx, TVMFFIObject *handle);

/* Whether the object has no listed wrapper in all probability, so that making one at once is cheaper than looking, in
 * turns with the threads that do the same. A hint, for free threads. */
bool fb_identity_expects_none(TVMFFIObject *handle);

/* Lists self, of which the caller uses the cell. If another wrapper is listed, that one stays and is returned (new
 * handle); else HPy_NULL. */
HPy fb_identity_list(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Takes the listed wrapper of the cell's object out, whichever it is. The caller has claimed the cell, or destroys
 * it. */
void fb_identity_unlist(FbHandleCell *cell);
/* As fb_identity_unlist, but only if the listed wrapper is the cell's own. */
void fb_identity_unlist_own(FbHandleCell *cell);

void fb_identity_share_slow(HPyContext *ctx, HPy self, FbHandleCell *cell);
/* Lists self if it is not listed: called before others get a reference to the object. The caller uses the cell. */
FH_INLINE void fb_identity_share(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  /* relaxed: fb_identity_list looks again, with the lock */
  if (FH_LIKELY(fh_atomic_load_relaxed(&cell->listing) != FB_UNLISTED)) return;
  fb_identity_share_slow(ctx, self, cell);
}

#endif /* FFI_HPY_OBJECT_IDENTITY_H_ */
