/* A cell owns a handle of a native object and protects the handle while calls use it.
 *
 * Each wrapper has one cell. Native code borrows the handles of its arguments for the duration of the call. `n_uses`
 * counts the calls in progress, so that neither a callback nor another thread moves the handle away and drops the
 * object during such a call: a move requires a count of 0, and makes the count negative until it ends. With a GIL the
 * count is a plain word. Without a GIL each thread records its uses as hazard pointers in its own record
 * (core/platform/hazard.h), so that threads that share an object do not contend for a cache line; a move scans the
 * records of all threads. The count is then atomic, and counts only uses for which a record has no room.
 *
 * In a child of fork, counted uses of threads that did not survive the fork stay counted: the handle cannot be moved
 * there. A child never sees a move in progress: without a GIL, Python stops all other threads before it forks, and a
 * move contains no point at which a thread stops. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "core/platform/hazard.h"
#include "hpy_module/context/context.h"

typedef struct FbHandleCell {
  TVMFFIObject *handle; /* owned; NULL before initialisation and after a move */
  int32_t n_uses;       /* calls in progress that are counted here, or one of the states below */
  uint8_t listing;      /* an FbListing */
  /* Set for a container that a call returned if an argument of the call had an exchange table: the number of the table
   * (args.h). Tensors read from the container become arrays of that library. 0: none. */
  uint8_t table;
  /* Whether the wrapper was returned more than once. tvm_ffi would have made a new wrapper each time, and a program
   * that moves one of these wrappers keeps the others. Therefore a move from this wrapper takes a reference and leaves
   * the handle. */
  uint8_t is_repeated;
  uint8_t flags; /* FbCellFlags; written under the lock of the instance map */
} FbHandleCell;

/* Of wrappers that preserve.h concerns. */
enum FbCellFlags {
  FB_CELL_FINALIZED = 1, /* __del__ was called: it is called once */
  FB_CELL_NOTED = 2, /* the object's address is noted for collections of garbage */
  FB_CELL_HELD = 4, /* the collection in progress owns a reference to the wrapper, on behalf of the object */
  FB_CELL_SCANNED = 8, /* the last scan of registered wrappers has the wrapper's object (collect/scan.h) */
};

/* States of n_uses in which no use may begin (the cell is claimed). */
enum {
  FB_HANDLE_MOVING = -1, /* for a few instructions: a thread that wants to use the cell waits */
  FB_HANDLE_OFFERED = -2, /* for the duration of a call that may consume the handle: other uses are refused */
  FB_HANDLE_PRESERVED = -3, /* native code owns the wrapper (preserve.h): the next use or claim gives it to Python */
};

/* Whether the wrapper is registered in the instance map (identity.h). */
typedef enum FbListing {
  FB_UNMADE, /* object.__new__ made the struct, which PyPy 8 does not prevent */
  FB_UNLISTABLE, /* the wrapper has no object, or is not an instance of the object's class */
  FB_UNLISTED,
  FB_LISTED,
  FB_PRESERVED, /* registered, and owned by native code */
} FbListing;

/* Gives a preserved wrapper to Python. Written once during the import. */
extern FB_HIDDEN void (*fb_handle_cell_resume)(FbHandleCell *cell);

/* Begins a counted use. Called if the cell is claimed, and without a GIL also if the thread's record has no room.
 * Returns false if the handle is offered to a call. */
bool fb_handle_cell_use_counted(FbHandleCell *cell);

/* Begins a use of the handle. Returns false, and begins no use, if the handle is offered to a call. */
FH_INLINE bool fb_handle_cell_use(FbHandleCell *cell) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    if (FH_UNLIKELY(cell->n_uses < 0)) return fb_handle_cell_use_counted(cell);
    ++cell->n_uses;
    return true;
  }
  if (FH_UNLIKELY(!fh_hazard_begin(cell))) return fb_handle_cell_use_counted(cell);
  /* Acquire: a use after a move sees the empty cell (release in fb_handle_cell_release). */
  if (FH_LIKELY(fh_atomic_load_acquire(&cell->n_uses) >= 0)) return true;
  fh_hazard_end(cell);
  return fb_handle_cell_use_counted(cell);
}

FH_INLINE void fb_handle_cell_unuse(FbHandleCell *cell) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    --cell->n_uses;
  } else if (FH_UNLIKELY(!fh_hazard_end(cell))) { /* release: pairs with the acquire of fb_handle_cell_claim */
    fh_atomic_sub_release(&cell->n_uses, 1);
  }
}

/* Whether a call uses the cell now. Only a hint, for callbacks of that call. */
FH_INLINE bool fb_handle_cell_is_used(FbHandleCell *cell) {
  return fh_atomic_load_relaxed(&cell->n_uses) != 0 || (fb_context_free_threaded && fh_hazard_find(cell));
}

/* Returns the handle during a use. Another thread may have stored the first handle of an empty cell after the use
 * began, because that store does not wait for uses. Acquire: the object is complete (release in fb_handle_cell_put). */
FH_INLINE TVMFFIObject *fb_handle_cell_get(FbHandleCell *cell) { return fh_atomic_load_acquire(&cell->handle); }
FH_INLINE void fb_handle_cell_put(FbHandleCell *cell, TVMFFIObject *handle) {
  fh_atomic_store_release(&cell->handle, handle); /* pairs with fb_handle_cell_get */
}

/* Changes the state of an unused cell to MOVING or OFFERED. Returns false if a call uses the cell. Without a GIL, a
 * claim of a cell with a handle scans the records of all threads. */
bool fb_handle_cell_claim(FbHandleCell *cell, int32_t state);
/* Ends a claim. */
void fb_handle_cell_release(FbHandleCell *cell);

FH_INLINE FbListing fb_handle_cell_listing(FbHandleCell *cell) {
  return (FbListing)fh_atomic_load_relaxed(&cell->listing);
}
/* relaxed: a claim of the cell, or the lock of the instance map, orders the store */
FH_INLINE void fb_handle_cell_set_listing(FbHandleCell *cell, FbListing listing) {
  fh_atomic_store_relaxed(&cell->listing, (uint8_t)listing);
}

/* Whether a move leaves the handle in place. Exact for a thread that has claimed the cell, a hint for others. */
FH_INLINE bool fb_handle_cell_is_repeated(FbHandleCell *cell) {
  return fh_atomic_load_acquire(&cell->is_repeated) != 0;
}

/* The cell must be claimed, or not shared yet. */
FH_INLINE void fb_handle_cell_set_single(FbHandleCell *cell) { fh_atomic_store_relaxed(&cell->is_repeated, 0); }

/* Records that the wrapper is returned again; it had `handle` a moment ago. Returns false, and the wrapper must not be
 * returned, if another thread is moving the handle away or has moved it. Both sides store first and then load
 * (seq_cst): this function stores is_repeated and checks for a claim, a move claims the cell and checks is_repeated. */
FH_INLINE bool fb_handle_cell_give_again(FbHandleCell *cell, const TVMFFIObject *handle) {
  if (FH_LIKELY(!fb_context_free_threaded)) {
    cell->is_repeated = 1;
    return true;
  }
  /* Stored only if it changes: threads that share the object read the cell. */
  if (!fb_handle_cell_is_repeated(cell)) fh_atomic_store_seq_cst(&cell->is_repeated, (uint8_t)1);
  return FH_LIKELY(fh_atomic_load_seq_cst(&cell->n_uses) >= 0 && fb_handle_cell_get(cell) == handle);
}

/* --- the owner of a cell ----------------------------------------------------------------------------------------- */

/* The struct of the second object, which has the handle cell of a wrapper on PyPy 7.3: see FbObject. */

typedef struct FbOwner {
  FbHandleCell cell;
  struct FbWeak *weak; /* identity_weak.h */
  const char *name; /* the name of a Function, from fb_function_name_take, or NULL */
} FbOwner;
