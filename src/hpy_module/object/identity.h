/* The instance map: finds the existing wrapper of a native object, so that `a.x is a.x`.
 *
 * The map leads from a native object to its registered ("listed") wrapper, and does not keep the wrapper alive. A
 * wrapper is registered as soon as other code may have a reference to its object: when the wrapper is made, if the
 * reference count shows other references; otherwise when the object is first shared, by passing it to a call or by
 * reading its pointer. Before that no code can return the object, so an object that stays with its creator costs
 * nothing here.
 *
 * A wrapper is removed when it is destroyed, under the lock of its stripe of the map. A wrapper is also removed when
 * its handle is moved away or offered to a call: if the callee returns the object, the object gets a new wrapper. An
 * object has a second wrapper if a caller asked for one (fb_wrap_apart); the second wrapper is registered once no other
 * wrapper is.
 *
 * The entries of the map are plain pointers, which stay valid because a destructor removes its own entry. reference_try
 * of the runtime's extension checks whether the wrapper of an entry is still alive. PyPy 7.3 has no such function;
 * there each registered wrapper has a weak reference (identity_weak.c). Debug modes have no map: every
 * conversion makes a new wrapper.
 *
 * If memory is exhausted, a wrapper stays unregistered. The wrapper then loses its identity and nothing else. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "handle_cell.h"
#include "hpy_module/context/drop.h"

extern bool fb_identity_is_kept; /* whether there is an instance map; written once during the import */

int fb_identity_init(HPyContext *ctx);

/* Whether native code other than the owner of one reference may have a strong or weak reference. */
FH_INLINE bool fb_identity_is_shared(TVMFFIObject *handle) {
  /* relaxed: with a single reference, only its owner can change the count */
  return fh_atomic_load_relaxed(&handle->combined_ref_count) != FB_ONLY_REFERENCE;
}

/* Returns the registered wrapper of an object as a new handle, or HPy_NULL if there is none. The caller ensures that
 * the object stays alive. */
HPy fb_identity_find(HPyContext *ctx, TVMFFIObject *handle);
/* Like fb_identity_find, but steals the caller's reference if there is a wrapper, and records that the wrapper is
 * returned again (fb_handle_cell_give_again). Without a wrapper the caller keeps its reference. */
HPy fb_identity_trade(HPyContext *ctx, TVMFFIObject *handle);

/* Whether the object probably has no registered wrapper, so that making a wrapper at once is cheaper than a lookup,
 * which contends with other threads that do the same. A hint for free-threaded interpreters. */
bool fb_identity_expects_none(TVMFFIObject *handle);

/* Registers `self`; the caller uses the cell. If another wrapper is registered, that wrapper stays and is returned as a
 * new handle; otherwise returns HPy_NULL. */
HPy fb_identity_list(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Registers a new wrapper that has the only reference to its object, to which no other wrapper can lead. */
void fb_identity_list_first(HPyContext *ctx, HPy self, FbHandleCell *cell);

typedef struct FbPreserved FbPreserved; /* below */

/* Calls a function for each entry, under the lock of its stripe; `preserved` is NULL unless the object owns the
 * wrapper. Not on PyPy 7.3. */
typedef void (*FbIdentityEach)(void *arg, TVMFFIObject *handle, FbHandleCell *cell, const FbPreserved *preserved);
void fb_identity_each(FbIdentityEach each, void *arg);
/* Returns the wrapper whose struct begins with the cell, borrowed. Not on PyPy 7.3. */
FH_INLINE HPy fb_identity_wrapper(FbHandleCell *cell) {
  return (HPy){(intptr_t)((char *)cell - fb_context_data_offset)};
}

/* Removes the registered wrapper of the cell's object, even if it is another wrapper. The caller has claimed the cell,
 * or destroys it. */
void fb_identity_unlist(FbHandleCell *cell);
/* Like fb_identity_unlist, but only if the registered wrapper has this cell. */
void fb_identity_unlist_own(FbHandleCell *cell);

/* --- preserved wrappers ------------------------------------------------------------------------------------------- */

/* Changes of state of a wrapper that native code owns: see preserve.h. */

struct FbPreserved {
  FbHandleCell *cell;
  void (*deleter)(void *self, int flags); /* of the native object, whose header has fb_identity_deleter instead */
  const void *keeper; /* identifies the thread that preserved the wrapper at its end; NULL: it did not end */
  bool is_moved; /* the wrapper has offered its handle to a call, or has none any more */
  /* Of a moved wrapper. The call and the entry of the map share the struct; the last of them frees it. */
  TVMFFIObject *handle; /* the object, perhaps a former one: the struct belongs to its stripe */
  TVMFFIObject *offered; /* the word that the callee sees: owned, and NULL if the callee has consumed it */
  bool is_offered; /* the call has not ended */
  bool is_given; /* the wrapper got the object back during the call, and the cell is not claimed any more */
  bool is_listed; /* the map has the entry */
};

/* Whether there are strong references in addition to the wrapper's. */
FH_INLINE bool fb_identity_is_held(TVMFFIObject *handle) {
  /* relaxed: with a single reference, only its owner can change the count */
  return (uint32_t)fh_atomic_load_relaxed(&handle->combined_ref_count) > 1;
}

/* The deleter of native objects that own their wrapper. Written once during the import; NULL: there are none. */
extern FB_HIDDEN void (*fb_identity_deleter)(void *self, int flags);

/* Whether the native object owns its wrapper. The caller has a strong reference. */
FH_INLINE bool fb_identity_is_preserved(TVMFFIObject *handle) {
  /* relaxed: a hint; the lock of the map decides */
  return fh_atomic_load_relaxed(&handle->deleter) == fb_identity_deleter && fb_identity_deleter != NULL;
}

/* Lets the native object of a registered cell own the wrapper, and fills *preserved. The cell keeps its native
 * reference, which the caller then releases. Returns false, and changes nothing, if the wrapper is not registered or is
 * in use. is_moved: the caller has claimed the cell for a call, and the native reference becomes preserved->offered;
 * otherwise the caller finalizes the wrapper. */
bool fb_identity_preserve(FbHandleCell *cell, FbPreserved *preserved, bool is_moved);

/* Continues the finalization of a wrapper: removes the wrapper from the map, with is_unlisted. Returns whether __del__
 * was called before, and records that it is now. */
bool fb_identity_finalize(FbHandleCell *cell, bool is_unlisted);

/* Lets a wrapper that is not registered and that no code has seen end without its __del__. */
void fb_identity_end_unseen(FbHandleCell *cell);

/* Called after a wrapper with state that the collector tracks was registered; its flag NOTED is set. Written once
 * during the import. */
extern void (*fb_identity_registered)(TVMFFIObject *handle);
/* Sets or ends the flag NOTED of the registered wrapper of an object, which need not exist any more. Returns whether
 * that was a change. */
bool fb_identity_note(TVMFFIObject *handle, bool is_noted);
/* Returns the registered wrapper of an object, which need not exist any more, as a new handle, and sets its flag HELD;
 * HPy_NULL if there is none, if the flag is set, or if no native code holds the object. */
HPy fb_identity_hold(TVMFFIObject *handle);
/* Ends the flag HELD. */
void fb_identity_end_hold(FbHandleCell *cell);

typedef enum FbResume {
  FB_RESUME_TRADE, /* the cell gets the caller's strong reference */
  FB_RESUME_SHARE, /* the cell gets a new reference; the caller keeps another one */
  FB_RESUME_TRY, /* the caller has none: waits while the last reference has gone and its releaser puts it back */
  FB_RESUME_END, /* the object ends: like TRADE, but a moved wrapper gets nothing */
} FbResume;

/* Ends the state PRESERVED of a native object's wrapper, and gives the reference that the object owned to the caller.
 * Returns HPy_NULL if the object owns no wrapper (any more), or if the wrapper has its handle still, or another one.
 * Waits if another thread is about to keep the wrapper. A moved wrapper gets the object's handle again. */
HPy fb_identity_resume(TVMFFIObject *handle, FbResume how);
/* Ends the offer of a wrapper that fb_identity_preserve has moved. If the callee has not consumed the object, and the
 * wrapper did not get it back during the call, the wrapper gets it now and is registered as before. Returns a reference
 * that the caller releases, or NULL. */
TVMFFIObject *fb_identity_end_offer(FbPreserved *offer);

/* Returns new handles of all registered wrappers, in an array to free, and their number in *n; NULL without memory. */
HPy *fb_identity_all(HPyContext *ctx, size_t *n);

void fb_identity_share_slow(HPyContext *ctx, HPy self, FbHandleCell *cell);
/* Registers `self` if it is not registered yet. Called before other code gets a reference to the object. The caller
 * uses the cell. */
FH_INLINE void fb_identity_share(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  /* relaxed: fb_identity_list checks again, under the lock */
  if (FH_LIKELY(fh_atomic_load_relaxed(&cell->listing) != FB_UNLISTED)) return;
  fb_identity_share_slow(ctx, self, cell);
}
