/* Python objects inside native ones. */
#ifndef FFI_HPY_CONTEXT_HOLD_H_
#define FFI_HPY_CONTEXT_HOLD_H_

#include "core/platform/atomic.h"
#include "ref.h"

/* A Python object owned by native code, which may drop it on any thread and at any time. */
typedef struct FbHold {
  FbRef ref;
  struct FbHold *next; /* while it waits to be dropped */
} FbHold;

/* NULL with MemoryError raised. */
FbHold *fb_hold_new(HPyContext *ctx, HPy h);
/* Ends a hold on an attached thread: the object, a new handle. */
HPy fb_hold_take(HPyContext *ctx, FbHold *hold);
/* Deleter for the core, on any thread, attached or not. Leaks the object once the interpreter is finalizing. */
void fb_hold_drop(void *hold);
/* Drops the holds that native code gave up where Python code could not run: where no context was at hand (hpy's debug
 * mode), and where fb_hold_must_wait said so. To be called where it can. */
void fb_hold_drain_all(HPyContext *ctx);
extern FB_HIDDEN FbHold *fb_hold_waiting; /* the first one */
FH_INLINE void fb_hold_drain(HPyContext *ctx) {
  /* relaxed: a hold that is overlooked here is found by a later call */
  if (FH_UNLIKELY(fh_atomic_load_relaxed(&fb_hold_waiting) != NULL)) fb_hold_drain_all(ctx);
}
/* Whether the calling thread is inside a lock of native code. Written once during the import. */
extern FB_HIDDEN int (*fb_hold_must_wait)(void);

#endif /* FFI_HPY_CONTEXT_HOLD_H_ */
