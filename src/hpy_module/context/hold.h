/* Owners of Python objects in native code. */
#ifndef FFI_HPY_CONTEXT_HOLD_H_
#define FFI_HPY_CONTEXT_HOLD_H_

#include "core/platform/atomic.h"
#include "ref.h"

/* A Python object owned by native code, which may drop it on any thread and at any time. */
typedef struct FbHold {
  FbRef ref;
  struct FbHold *next; /* while it waits to be dropped */
} FbHold;

/* Returns NULL with MemoryError raised on failure. */
FbHold *fb_hold_new(HPyContext *ctx, HPy h);
/* Frees a hold on an attached thread, and returns its object as a new handle. */
HPy fb_hold_take(HPyContext *ctx, FbHold *hold);
/* Deleter for the core. Any thread may call it, attached or not. Leaks the object once the interpreter is
 * finalizing. */
void fb_hold_drop(void *hold);
/* Releases the holds that native code dropped where Python code could not run: without a context (hpy's debug mode), or
 * where fb_hold_must_wait returned true. Called where Python code may run. */
void fb_hold_drain_all(HPyContext *ctx);
extern FB_HIDDEN FbHold *fb_hold_waiting; /* the first one */
FH_INLINE void fb_hold_drain(HPyContext *ctx) {
  /* relaxed: a later call finds a hold that this load misses */
  if (FH_UNLIKELY(fh_atomic_load_relaxed(&fb_hold_waiting) != NULL)) fb_hold_drain_all(ctx);
}
/* Whether the calling thread is inside a lock of native code. Written once during the import. */
extern FB_HIDDEN int (*fb_hold_must_wait)(void);

#endif /* FFI_HPY_CONTEXT_HOLD_H_ */
