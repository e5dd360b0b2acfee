/* Claims of a handle cell: the rarer half of its protocol. Uses are counted inline, in handle_cell.h.
 *
 * Under a GIL a claim is plain words, and no other thread ever meets a cell that is MOVING. Without one a claim and a
 * counted use change the count by compare and swap: a claim from 0 to a state, a use from n to n + 1. */
#include "handle_cell.h"

#include "core/platform/atomic.h"
#include "core/platform/sync.h"
#include "core/platform/thread.h"

int32_t fb_handle_cell_wait(FbHandleCell *cell) {
  /* Yields instead of parking: a move is short, because it runs no Python code and no destructor. */
  int32_t n;
  while ((n = fh_atomic_load_relaxed(&cell->n_uses)) == FB_HANDLE_MOVING) {
    fh_thread_yield();
  }
  return n;
}

bool fb_handle_cell_use_counted(FbHandleCell *cell) {
  /* Acquire: as in fb_handle_cell_use. */
  int32_t n = fh_atomic_load_relaxed(&cell->n_uses);
  do {
    if (n < 0 && (n = fb_handle_cell_wait(cell)) < 0) return false;
  } while (!fh_atomic_cas_acquire(&cell->n_uses, &n, n + 1));
  return true;
}

bool fb_handle_cell_claim(FbHandleCell *cell, int32_t state) {
  if (!fb_context_free_threaded) {
    if (cell->n_uses != 0) return false;
    cell->n_uses = state;
    return true;
  }
  /* MOVING first, which users wait for: they are refused by an offer that is certain only. Acquire: a claim after a use
   * sees what the user of the handle did (release, in fb_handle_cell_unuse). A failed exchange leaves the state that it
   * met in n: MOVING is waited for, calls in progress and an offer are not. */
  int32_t n = 0;
  while (!fh_atomic_cas_acquire(&cell->n_uses, &n, FB_HANDLE_MOVING)) {
    if (n == FB_HANDLE_MOVING) n = fb_handle_cell_wait(cell);
    if (n != 0) return false;
  }
  /* A use of an empty cell finds nothing there, or the handle that it is about to get: it disturbs nobody. What has
   * been given out again meanwhile (fb_handle_cell_give_again) is not offered: whoever got it would be refused. */
  if (cell->handle != NULL &&
      (fh_uses_look(cell) || (state == FB_HANDLE_OFFERED && fb_handle_cell_is_repeated(cell)))) {
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
