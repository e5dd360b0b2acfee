/* Python objects inside native ones. */
#ifndef FFI_HPY_CONTEXT_HOLD_H_
#define FFI_HPY_CONTEXT_HOLD_H_

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
/* While native code of a library runs under a lock: what it drops on this thread waits until fb_hold_defer_end, which is
 * given the result of fb_hold_defer, because what ends then may run Python code. */
FbHold **fb_hold_defer(FbHold **dropped);
void fb_hold_defer_end(FbHold **outer, FbHold *dropped);
/* Drops the holds that native code gave up where no context was at hand (hpy's debug mode). To be called where there is
 * one. */
void fb_hold_drain(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_HOLD_H_ */
