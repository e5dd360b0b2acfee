/* barrier.h - a store that comes before a load, at the cost of the rare side.
 *
 * Two threads each write a word and then read the other's. At least one of them sees what the other wrote, if between
 * its store and its load one has fh_barrier_light and the other has fh_barrier_heavy. Where the system can make all
 * running threads of the process pass a barrier (Linux: membarrier; Windows: FlushProcessWriteBuffers), the light one
 * costs nothing, and the heavy one a call of the system, of some microseconds. Elsewhere both are full fences. */
#ifndef FH_BARRIER_H_
#define FH_BARRIER_H_

#include "atomic.h"

/* 1: the light one costs nothing. 0: both are fences. FH_BARRIER_CHANGES: likewise, but a light one may have begun when
 * it cost nothing. Written when the library is loaded, and relaxed should the system refuse later what it allowed
 * then. */
extern FH_HIDDEN int32_t fh_barrier_is_one_sided;
enum { FH_BARRIER_CHANGES = -1 };

static inline void fh_barrier_light(void) {
  /* relaxed: see fh_barrier_heavy, which waits after it has changed this */
  if (FH_LIKELY(fh_atomic_load_relaxed_i32(&fh_barrier_is_one_sided) > 0)) {
    fh_atomic_fence_compiler();
  } else {
    fh_atomic_fence_seq_cst();
  }
}

void fh_barrier_heavy(void);

#endif /* FH_BARRIER_H_ */
