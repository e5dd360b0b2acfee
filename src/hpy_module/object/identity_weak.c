/* Weak references to wrappers, for PyPy 7.3, which has no function that checks whether an object at an address is
 * alive.
 *
 * Each registered wrapper has a weakref.ref, stored in the second object, which has the wrapper's cell (FbOwner). The
 * GIL guards all of this; a call of a weak reference may let other threads run. */
#include "identity_weak.h"

#include <stdlib.h>

#include "handle_cell.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/context.h"

/* The weak reference of one wrapper: in the FbOwner while the owner lives, afterwards in `waiting`. */
struct FbWeak {
  HPy reference;       /* weakref.ref(wrapper) */
  struct FbWeak *next; /* while it waits to be closed */
};

static FbRef ref_type;       /* weakref.ref; written once during the import */
static struct FbWeak *waiting; /* released where no handle may be closed */

int fb_identity_weak_init(HPyContext *ctx) {
  HPy module = HPyImport_ImportModule(ctx, "weakref");
  HPy ref = HPy_IsNull(module) ? HPy_NULL : HPy_GetAttr_s(ctx, module, "ref");
  if (!HPy_IsNull(module)) HPy_Close(ctx, module);
  if (HPy_IsNull(ref)) return -1;
  fb_ref_store(ctx, &ref_type, ref);
  HPy_Close(ctx, ref);
  return 0;
}

/* Closes the weak references of freed wrappers. Each is removed from the list before it is closed. */
static void close_waiting(HPyContext *ctx) {
  while (waiting != NULL) {
    struct FbWeak *weak = waiting;
    waiting = weak->next;
    HPy_Close(ctx, weak->reference);
    free(weak);
  }
}

int fb_identity_weak_watch(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  /* On PyPy 7.3 each cell is the beginning of an FbOwner. */
  FbOwner *owner = (FbOwner *)cell;
  close_waiting(ctx);
  if (owner->weak != NULL) return 0;
  HPy type = fb_ref_borrow(ctx, &ref_type);
  HPy reference = fb_call_one(ctx, type, self);
  fb_ref_return(ctx, type);
  struct FbWeak *weak = HPy_IsNull(reference) ? NULL : malloc(sizeof(*weak));
  if (weak != NULL) {
    *weak = (struct FbWeak){.reference = reference};
    owner->weak = weak;
    return 0;
  }
  /* Without a weak reference the wrapper stays unregistered; this is not an error. */
  if (HPy_IsNull(reference)) {
    HPyErr_Clear(ctx);
  } else {
    HPy_Close(ctx, reference);
  }
  return -1;
}

HPy fb_identity_weak_load(HPyContext *ctx, FbHandleCell *cell) {
  struct FbWeak *weak = ((FbOwner *)cell)->weak;
  HPy reference = HPy_Dup(ctx, weak->reference); /* the cell may be destroyed during the call */
  HPy wrapper = fb_call(ctx, reference, NULL, 0, HPy_NULL);
  HPy_Close(ctx, reference);
  if (HPy_IsNull(wrapper)) {
    HPyErr_Clear(ctx);
  } else if (HPy_Is(ctx, wrapper, ctx->h_None)) {
    HPy_Close(ctx, wrapper);
    wrapper = HPy_NULL;
  }
  return wrapper;
}

void fb_identity_weak_forget(FbHandleCell *cell) {
  struct FbWeak *weak = ((FbOwner *)cell)->weak;
  if (weak == NULL) return;
  /* The handle is closed later, by fb_identity_weak_watch: this function runs during a collection. */
  weak->next = waiting;
  waiting = weak;
  ((FbOwner *)cell)->weak = NULL;
}
