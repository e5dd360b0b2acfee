/* Claims of a handle cell, the rare half of the protocol. Uses are counted inline, in handle_cell.h.
 *
 * With a GIL a claim is a plain store, and no other thread ever sees the state MOVING. Without a GIL, claims and
 * counted uses change the count by compare-and-swap: a claim from 0 to a state, a use from n to n + 1. */
#include "handle_cell.h"

#include "core/platform/atomic.h"
#include "core/platform/sync.h"
#include "core/platform/system.h"

/* Waits until no thread moves the handle. Returns the value of n_uses after the wait. */
static int32_t wait_for_move(FbHandleCell *cell) {
  /* Yields, because a move is short: it runs neither Python code nor a destructor. */
  int32_t n;
  while ((n = fh_atomic_load_relaxed(&cell->n_uses)) == FB_HANDLE_MOVING) {
    fh_thread_yield();
  }
  return n;
}

void (*fb_handle_cell_resume)(FbHandleCell *cell);

/* Waits for a move, and ends the state PRESERVED. Returns the value of n_uses after that. */
static int32_t wait_or_resume(FbHandleCell *cell) {
  int32_t n;
  while ((n = wait_for_move(cell)) == FB_HANDLE_PRESERVED) fb_handle_cell_resume(cell);
  return n;
}

bool fb_handle_cell_use_counted(FbHandleCell *cell) {
  /* Acquire: like in fb_handle_cell_use. */
  int32_t n = fh_atomic_load_relaxed(&cell->n_uses);
  do {
    if (n < 0 && (n = wait_or_resume(cell)) < 0) return false;
  } while (!fh_atomic_cas_acquire(&cell->n_uses, &n, n + 1));
  return true;
}

bool fb_handle_cell_claim(FbHandleCell *cell, int32_t state) {
  if (FH_UNLIKELY(fh_atomic_load_relaxed(&cell->n_uses) == FB_HANDLE_PRESERVED)) (void)wait_or_resume(cell);
  if (!fb_context_free_threaded) {
    if (cell->n_uses != 0) return false;
    cell->n_uses = state;
    return true;
  }
  /* MOVING comes first, because other users wait for MOVING; they are refused only by an offer that is certain.
   * Acquire: a claim after a use sees the writes of that user (release in fb_handle_cell_unuse). A failed exchange
   * leaves the state that it found in n. The loop waits for the end of MOVING, but not for calls in progress or for the
   * end of an offer. */
  int32_t n = 0;
  while (!fh_atomic_cas_acquire(&cell->n_uses, &n, FB_HANDLE_MOVING)) {
    if (n == FB_HANDLE_MOVING) n = wait_for_move(cell);
    if (n != 0) return false;
  }
  /* A use of an empty cell finds no handle, or the handle that the cell is about to get; such a use does not prevent
   * the claim. A wrapper that was returned again since the claim began (fb_handle_cell_give_again) is not offered,
   * because its new user would be refused. */
  if (cell->handle != NULL &&
      (fh_hazard_look(cell) || (state == FB_HANDLE_OFFERED && fb_handle_cell_is_repeated(cell)))) {
    fb_handle_cell_release(cell);
    return false;
  }
  if (state != FB_HANDLE_MOVING) fh_atomic_store_release(&cell->n_uses, state);
  return true;
}

void fb_handle_cell_release(FbHandleCell *cell) {
  /* release: pairs with the acquire of fb_handle_cell_use */
  fh_atomic_store_release(&cell->n_uses, 0);
}
