/* Strong references stored outside of Python objects: a handle, or an HPyGlobal where handles may not be kept. */
#include "ref.h"

void fb_ref_store(HPyContext *ctx, FbRef *ref, HPy h) {
  if (fb_context_keeps_handles) {
    ref->handle = HPy_Dup(ctx, h);
  } else {
    HPyGlobal_Store(ctx, &ref->global, h);
    ref->handle = (HPy){1}; /* only marks the reference as not empty */
  }
}

HPy fb_ref_load(HPyContext *ctx, const FbRef *ref) {
  if (HPy_IsNull(ref->handle)) return HPy_NULL;
  return fb_context_keeps_handles ? HPy_Dup(ctx, ref->handle) : HPyGlobal_Load(ctx, ref->global);
}

void fb_ref_clear(HPyContext *ctx, FbRef *ref) {
  if (HPy_IsNull(ref->handle)) return;
  if (fb_context_keeps_handles) {
    HPy_Close(ctx, ref->handle);
  } else {
    /* releases the object of the HPyGlobal */
    HPyGlobal_Store(ctx, &ref->global, HPy_NULL);
  }
  ref->handle = HPy_NULL;
}
