/* barrier.h - a store-load barrier whose cost is moved to the rare side.
 *
 * Two threads each write a word and then read the other's word. At least one of them sees the other's write if one
 * calls fh_barrier_light and the other calls fh_barrier_heavy between its store and its load. If the system can make
 * all running threads of the process pass a barrier (Linux: membarrier; Windows: FlushProcessWriteBuffers), the light
 * barrier costs nothing, and the heavy one costs a system call of some microseconds. Elsewhere both are full fences. */
#ifndef FH_BARRIER_H_
#define FH_BARRIER_H_

#include "atomic.h"

/* 1: the light barrier costs nothing. 0: both are fences. FH_BARRIER_CHANGES: both are fences, but a light barrier may
 * have begun while it cost nothing. Written when the library is loaded, and (relaxed) if the system later refuses the
 * call that it allowed then. */
extern FH_HIDDEN int32_t fh_barrier_is_one_sided;
enum { FH_BARRIER_CHANGES = -1 };

static inline void fh_barrier_light(void) {
  /* relaxed: fh_barrier_heavy waits after it has changed this word */
  if (FH_LIKELY(fh_atomic_load_relaxed_i32(&fh_barrier_is_one_sided) > 0)) {
    fh_atomic_fence_compiler();
  } else {
    fh_atomic_fence_seq_cst();
  }
}

void fh_barrier_heavy(void);

#endif /* FH_BARRIER_H_ */
