/* Claims of a handle cell. */
#include "handle_cell.h"

#include "core/platform/atomic.h"
#include "core/platform/sync.h"

int32_t fb_handle_cell_wait(FbHandleCell *cell) {
  int32_t n;
  while ((n = fh_atomic_load_relaxed(&cell->n_uses)) == FB_HANDLE_MOVING) {
    fh_thread_yield();
  }
  return n;
}

bool fb_handle_cell_claim(FbHandleCell *cell, int32_t state) {
  if (!fb_context_free_threaded) {
    if (cell->n_uses != 0) return false;
    cell->n_uses = state;
    return true;
  }
  int32_t n = 0;
  while (!fh_atomic_cas_acquire(&cell->n_uses, &n, state)) {
    if (n == FB_HANDLE_MOVING) n = fb_handle_cell_wait(cell);
    if (n != 0) return false;
  }
  return true;
}

void fb_handle_cell_release(FbHandleCell *cell) {
  /* release: pairs with the acquire of fb_handle_cell_use */
  fh_atomic_store_release(&cell->n_uses, 0);
}
