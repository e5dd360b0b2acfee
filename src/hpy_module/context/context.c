/* Identifies the HPy implementation from the context of the module's initialisation: by the magic number of our
 * extension, by the context's name, and by one word of its table. This file calls no function of the context. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

HPyContext *fb_ctx;
const FhpyExtension *fb_ext;
bool fb_context_is_lasting, fb_context_keeps_handles, fb_context_is_pypy, fb_context_free_threaded;
bool fb_context_defers_refcounts, fb_context_collects;
ptrdiff_t fb_context_data_offset, fb_context_type_offset, fb_context_tuple_items, fb_context_list_items;
size_t fb_context_late_shift;

int fb_context_init(HPyContext *ctx) {
  fb_ctx = ctx;
  fb_ext = fhpy_extension_find(ctx);
  /* PyPy 7.3.18 inserted the constant h_DictType before ctx_Capsule_New. On PyPy constants are small numbers (indices
   * of a handle table) and functions are pointers, so the word at this place identifies the layout. */
  uintptr_t word;
  memcpy(&word, &ctx->ctx_Capsule_New, sizeof(word));
  fb_context_late_shift = word < 0x10000 ? sizeof(HPy) : 0;
  fb_context_is_pypy = fb_ext == NULL && strstr(ctx->name, "PyPy") != NULL;
  /* The PyPI package hpy has neither our extension nor a known name. The universal mode of hpy is therefore treated
   * like its debug mode: no handle and no context outlives a call. */
  fb_context_keeps_handles = fb_ext != NULL || fb_context_is_pypy;
  fb_context_is_lasting = fb_context_keeps_handles || strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) == 0;
  /* Our debug mode does not report whether there is a GIL; code that is correct without a GIL is correct with one. */
  fb_context_free_threaded = fb_ext != NULL ? fb_ext->free_threaded : fb_context_is_lasting && !fb_context_is_pypy;
  /* Without the extension the offsets stay 0. tuple_items and list_items, later entries, also stay 0 if the runtime
   * lacks them. */
  if (fb_ext != NULL) {
    fb_context_data_offset = fb_ext->data_offset;
    fb_context_type_offset = fb_ext->type_offset;
    if (FHPY_EXTENSION_HAS(fb_ext, tuple_items)) fb_context_tuple_items = fb_ext->tuple_items;
    if (FHPY_EXTENSION_HAS(fb_ext, list_items)) fb_context_list_items = fb_ext->list_items;
    const char *choice = getenv("FFI_HPY_COLLECT");
    fb_context_collects = (choice == NULL || strcmp(choice, "0") != 0) && FHPY_EXTENSION_HAS(fb_ext, collect_begin) &&
                          fb_ext->collect != NULL;
    fb_context_defers_refcounts = FHPY_EXTENSION_HAS(fb_ext, defers_refcounts) && fb_ext->defers_refcounts;
  }
  return 0;
}

/* --- references --------------------------------------------------------------------------------------------------- */

/* Strong references stored outside of Python objects: a handle, or an HPyGlobal where handles may not be kept. */

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
