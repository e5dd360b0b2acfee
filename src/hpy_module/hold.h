/* Strong references to Python objects from outside any Python object: cells, and Python objects inside core objects. */
#ifndef FFI_HPY_MODULE_HOLD_H_
#define FFI_HPY_MODULE_HOLD_H_

#include "context.h"

/* One owned reference that outlives the call that made it. Zero-initialised is empty.
 * It is simply a handle, except in debug modes, where handles are not for keeping: there it is an HPyGlobal
 * (PyPy 7.3 does not release what an HPyGlobal held). Reads may race with reads; a cell that is overwritten or cleared must not be in use by another thread. */
typedef struct FbCell {
  HPy handle;
  HPyGlobal global;
} FbCell;

void fb_cell_store(HPyContext *ctx, FbCell *cell, HPy h);
/* New handle; HPy_NULL if the cell is empty. */
HPy fb_cell_load(HPyContext *ctx, const FbCell *cell);
/* The same without a reference of its own, for when the cell's owner stays; to be given back to fb_cell_return. */
FB_INLINE HPy fb_cell_borrow(HPyContext *ctx, const FbCell *cell) {
  return FB_LIKELY(fb_handles_are_lasting) ? cell->handle : fb_cell_load(ctx, cell);
}
FB_INLINE void fb_cell_return(HPyContext *ctx, HPy borrowed) {
  if (FB_UNLIKELY(!fb_handles_are_lasting)) HPy_Close(ctx, borrowed);
}
void fb_cell_clear(HPyContext *ctx, FbCell *cell);

/* A Python object owned by native code, which may drop it on any thread and at any time. */
typedef struct FbHold {
  FbCell cell;
  struct FbHold *next; /* while it waits to be dropped */
} FbHold;

/* NULL with MemoryError raised. */
FbHold *fb_hold_new(HPyContext *ctx, HPy h);
/* Deleter for the core, on any thread, attached or not. Leaks the object once the interpreter is finalizing. */
void fb_hold_drop(void *hold);
/* Drops what native code gave up at a moment when no context was at hand. Called where one is. */
void fb_hold_drain(HPyContext *ctx);

#endif /* FFI_HPY_MODULE_HOLD_H_ */
