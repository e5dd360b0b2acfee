/* Which HPy implementation runs. The context that the module is initialised with tells: by the magic number of our
 * extension, by its name, and by one word of its table. Nothing here calls one of its functions. */
#include "context.h"

HPyContext *fb_ctx;
const FhpyExtension *fb_ext;
bool fb_context_is_lasting, fb_context_keeps_handles, fb_context_is_pypy, fb_context_free_threaded;
bool fb_context_defers_refcounts;
ptrdiff_t fb_context_data_offset, fb_context_type_offset, fb_context_tuple_items;
size_t fb_context_late_shift;

int fb_context_init(HPyContext *ctx) {
  fb_ctx = ctx;
  fb_ext = fhpy_extension_find(ctx);
  /* PyPy 7.3.18 inserted the constant h_DictType before ctx_Capsule_New. Constants are small numbers there (indices of
   * a handle table), functions are addresses: the word at that place tells which of the two layouts this is. */
  uintptr_t word;
  memcpy(&word, &ctx->ctx_Capsule_New, sizeof(word));
  fb_context_late_shift = word < 0x10000 ? sizeof(HPy) : 0;
  fb_context_is_pypy = fb_ext == NULL && strstr(ctx->name, "PyPy") != NULL;
  /* The PyPI package hpy has neither our extension nor a name that is looked for. Its universal mode is therefore
   * treated as its debug mode must be: no handle and no context outlives a call. */
  fb_context_keeps_handles = fb_ext != NULL || fb_context_is_pypy;
  fb_context_is_lasting = fb_context_keeps_handles || strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) == 0;
  /* Our debug mode does not tell whether there is a GIL; what is right without one is right with it. */
  fb_context_free_threaded = fb_ext != NULL ? fb_ext->free_threaded : fb_context_is_lasting && !fb_context_is_pypy;
  /* The offsets stay 0 without the extension. tuple_items, a later entry of it, stays 0 also where the runtime lacks
   * that. */
  if (fb_ext != NULL) {
    fb_context_data_offset = fb_ext->data_offset;
    fb_context_type_offset = fb_ext->type_offset;
    if (FHPY_EXTENSION_HAS(fb_ext, tuple_items)) fb_context_tuple_items = fb_ext->tuple_items;
    fb_context_defers_refcounts = FHPY_EXTENSION_HAS(fb_ext, defers_refcounts) && fb_ext->defers_refcounts;
  }
  return 0;
}
