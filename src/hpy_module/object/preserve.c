/* The end of a wrapper with state, and the deleter of native objects that own their wrapper. */
#include "preserve.h"

#include <stdlib.h>

#include "hpy_module/context/py_owner.h"
#include "identity.h"
#include "object.h"

bool (*fb_preserve_is_proven)(FbHandleCell *cell);

/* A wrapper whose end this thread has begun. */
typedef struct Ending {
  FbHandleCell *cell;
  bool has_returned; /* the release of its native reference was the last one, and it has the object again */
  struct Ending *outer;
} Ending;

static FH_THREAD_LOCAL Ending *innermost;

HPy fb_preserve_trade(TVMFFIObject *handle) {
  return fb_identity_is_preserved(handle) ? fb_identity_resume(handle, FB_RESUME_TRADE) : HPy_NULL;
}

/* Python code uses a preserved wrapper. The caller has a reference to it. */
static void resume(FbHandleCell *cell) {
  HPy self = fb_identity_resume(cell->handle, FB_RESUME_TRY);
  if (!HPy_IsNull(self)) HPy_Close(fb_ctx, self);
}

/* --- the deleter -------------------------------------------------------------------------------------------------- */

/* The deleter has a strong reference to the object, which becomes the wrapper's. */
static void release_wrapper(HPyContext *ctx, void *object) {
  HPy self = fb_identity_resume(object, FB_RESUME_TRADE);
  if (HPy_IsNull(self)) { /* another thread has just got the wrapper, and a reference for it */
    TVMFFIObjectDecRef(object);
    return;
  }
  const FbHandleCell *cell = fb_object_cell(ctx, self);
  for (Ending *each = innermost; each != NULL; each = each->outer) each->has_returned |= each->cell == cell;
  HPy_Close(ctx, self);
}

/* Native code has released the last strong reference. The count is restored before anything else, so that only code
 * that runs between the release and this function sees an object without one: FB_RESUME_TRY waits for it. The weak
 * reference is for the caller, which releases the one that belonged to the strong references. */
static void delete_preserved(void *self, int flags) {
  (void)flags; /* Strong only: the state PRESERVED has a weak reference */
  TVMFFIObject *object = self;
  (void)fh_atomic_add_seq_cst(&object->combined_ref_count, FB_ONLY_REFERENCE);
  fb_py_owner_call(object, release_wrapper);
}

/* --- the end of a wrapper ----------------------------------------------------------------------------------------- */

static bool is_held(const FbHandleCell *cell) {
  /* relaxed: with a single reference, only its owner can change the count */
  return cell->handle != NULL && (uint32_t)fh_atomic_load_relaxed(&cell->handle->combined_ref_count) > 1;
}

/* Lets the native object own the wrapper, whose end has begun on this thread. Returns false if the wrapper owns the
 * object's only reference, and if it cannot be preserved. */
static bool preserve(FbHandleCell *cell) {
  TVMFFIObject *handle = cell->handle;
  while (fb_handle_cell_listing(cell) == FB_LISTED && is_held(cell)) {
    FbPreserved *preserved = malloc(sizeof(*preserved));
    if (preserved == NULL || !fb_identity_preserve(cell, preserved)) {
      free(preserved);
      return false;
    }
    Ending ending = {cell, false, innermost};
    innermost = &ending;
    TVMFFIObjectDecRef(handle);
    innermost = ending.outer;
    if (!ending.has_returned) return true;
  }
  return false;
}

/* Asked by the interpreter before it destroys anything of an instance, and again after __del__. */
static int keeps(HPy self) {
  FbHandleCell *cell = fb_object_cell(fb_ctx, self);
  /* Garbage stays registered until it is destroyed, because the collector has not finished with it. */
  bool is_garbage = fb_preserve_is_proven != NULL && fb_preserve_is_proven(cell);
  if (!is_garbage && preserve(cell)) return FHPY_END_KEPT;
  /* If __del__ resurrects the wrapper, the next share registers it again, and lets it end again. */
  if (!is_garbage) fb_identity_unlist_own(cell);
  if (cell->is_finalized) return FHPY_END_PROCEEDS;
  cell->is_finalized = 1;
  return FHPY_END_FINALIZE;
}

void fb_preserve_watch(HPy cls, bool only_with_state) {
  if (fb_identity_deleter != NULL) (void)fb_ext->end_watch(cls, keeps, only_with_state);
}

void fb_preserve_init(void) {
  if (!fb_identity_is_kept || fb_ext == NULL || !FHPY_EXTENSION_HAS(fb_ext, end_resume) || fb_ext->end_watch == NULL)
    return;
  fb_identity_deleter = delete_preserved;
  fb_handle_cell_resume = resume;
}
