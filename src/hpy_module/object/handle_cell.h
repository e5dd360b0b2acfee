/* A handle of a native object, and who uses it.
 *
 * Each wrapper has one cell. While native code runs, it borrows the handles of its arguments. `n_uses` counts the calls
 * in progress, so that nobody (a callback, another thread) moves the handle away and drops the object under the callee:
 * a move wants the count to be 0, and makes it negative while it lasts. Under a GIL the count is a plain word. Without
 * one each thread notes its uses in a record of its own (core/platform/uses.h), so that threads that share an object do
 * not wait for one another's cache line, and a move looks into the records of all. The count, which is atomic then, has
 * the uses for which a record has no room.
 *
 * In a child of fork, counted uses of threads that the child does not have stay counted: the handle cannot be moved
 * there. No child finds a move half done: without a GIL, Python stops all other threads before it forks, and a move is
 * too short for a stop. */
#ifndef FFI_HPY_OBJECT_HANDLE_CELL_H_
#define FFI_HPY_OBJECT_HANDLE_CELL_H_

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "core/platform/uses.h"
#include "hpy_module/context/context.h"

typedef struct FbHandleCell {
  TVMFFIObject *handle; /* owned; NULL before initialisation and after it was moved away */
  int32_t n_uses;       /* calls in progress that are counted here, or one of the states below */
  uint8_t listing;      /* an FbListing */
  /* Of a container that a call returned whose arguments had an exchange table: the table's number (exchange_number.h).
   * The container's tensors come out as arrays of that library. 0: none. */
  uint8_t table;
  /* Whether the wrapper was given out again where each time could have made one of its own, as tvm_ffi does: a program
   * that moves one of those keeps the others, so a move takes a reference and leaves the handle. */
  uint8_t is_repeated;
} FbHandleCell;

/* States of n_uses while nobody may begin a use. */
enum {
  FB_HANDLE_MOVING = -1, /* for a few instructions: a thread that wants to use the cell waits */
  FB_HANDLE_OFFERED = -2, /* for the time of a call, which may take the handle: other uses are refused */
};

/* Whether the wrapper is the one that stands for its object: see identity.h. */
typedef enum FbListing {
  FB_UNMADE, /* nobody made the wrapper: object.__new__ gave it its struct, which PyPy 8 does not refuse */
  FB_UNLISTABLE, /* it has no object, or is no instance of the object's class */
  FB_UNLISTED,
  FB_LISTED,
} FbListing;

/* Waits until no thread moves the handle; returns n_uses as it was then. */
int32_t fb_handle_cell_wait(FbHandleCell *cell);

/* Begins a use without a GIL that cannot be noted, or meets a claim: it is counted. */
bool fb_handle_cell_use_counted(FbHandleCell *cell);

/* Begins a use of the handle. False if it is offered to a call: then there is no use to end. */
FH_INLINE bool fb_handle_cell_use(FbHandleCell *cell) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    if (FH_UNLIKELY(cell->n_uses < 0)) return false;
    cell->n_uses++;
    return true;
  }
  if (FH_UNLIKELY(!fh_uses_begin(cell))) return fb_handle_cell_use_counted(cell);
  /* Acquire: a use after a move sees the empty cell (release, in fb_handle_cell_release). */
  if (FH_LIKELY(fh_atomic_load_acquire(&cell->n_uses) >= 0)) return true;
  fh_uses_end(cell);
  return fb_handle_cell_use_counted(cell);
}

FH_INLINE void fb_handle_cell_unuse(FbHandleCell *cell) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    cell->n_uses--;
  } else if (FH_UNLIKELY(!fh_uses_end(cell))) { /* release: pairs with the acquire of fb_handle_cell_claim */
    fh_atomic_sub_release(&cell->n_uses, 1);
  }
}

/* Whether a call uses the cell at this moment: a hint, for callbacks of that call. */
FH_INLINE bool fb_handle_cell_is_used(FbHandleCell *cell) {
  return fh_atomic_load_relaxed(&cell->n_uses) != 0 || (fb_context_free_threaded && fh_uses_find(cell));
}

/* The handle, for a use that began while another thread may have been giving an empty cell its first one, which waits
 * for nobody. Acquire: the object is complete (release, in fb_handle_cell_put). */
FH_INLINE TVMFFIObject *fb_handle_cell_get(FbHandleCell *cell) { return fh_atomic_load_acquire(&cell->handle); }
FH_INLINE void fb_handle_cell_put(FbHandleCell *cell, TVMFFIObject *handle) {
  fh_atomic_store_release(&cell->handle, handle); /* pairs with fb_handle_cell_get */
}

/* Makes a cell MOVING or OFFERED that nobody uses. False if a call uses it. Without a GIL, and if there is a handle,
 * this costs a look into the records of all threads. */
bool fb_handle_cell_claim(FbHandleCell *cell, int32_t state);
/* Ends a claim. */
void fb_handle_cell_release(FbHandleCell *cell);

FH_INLINE FbListing fb_handle_cell_listing(FbHandleCell *cell) {
  return (FbListing)fh_atomic_load_relaxed(&cell->listing);
}
/* relaxed: a claim of the cell or the lock of the table of wrappers orders it */
FH_INLINE void fb_handle_cell_set_listing(FbHandleCell *cell, FbListing listing) {
  fh_atomic_store_relaxed(&cell->listing, (uint8_t)listing);
}

/* Whether a move leaves the handle. Certain for whoever has claimed the cell. */
FH_INLINE bool fb_handle_cell_is_repeated(FbHandleCell *cell) {
  return fh_atomic_load_acquire(&cell->is_repeated) != 0;
}

/* For a cell that is claimed, or that nobody else has. */
FH_INLINE void fb_handle_cell_set_single(FbHandleCell *cell) { fh_atomic_store_relaxed(&cell->is_repeated, 0); }

/* Notes that the wrapper, which had `handle` a moment ago, is given out again. False, and it must not be given out, if
 * another thread is moving the handle away, or has done so. Either side writes first and looks then (seq_cst): this one
 * notes and looks for a claim, a move claims and looks for the note. */
FH_INLINE bool fb_handle_cell_give_again(FbHandleCell *cell, const TVMFFIObject *handle) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    cell->is_repeated = 1;
    return true;
  }
  /* Written only where it changes: threads that share the object read the cell. */
  if (!fb_handle_cell_is_repeated(cell)) fh_atomic_store_seq_cst(&cell->is_repeated, (uint8_t)1);
  return FH_LIKELY(fh_atomic_load_seq_cst(&cell->n_uses) >= 0 && fb_handle_cell_get(cell) == handle);
}

#endif /* FFI_HPY_OBJECT_HANDLE_CELL_H_ */
