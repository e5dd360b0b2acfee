/* The HPy context as the binding sees it: which implementation runs, its extension, and the entries that moved.
 *
 * Three implementations serve this binary: the package's own (with the extension of hpy_runtime/api/extension.h, or in
 * debug mode without), PyPy 7.3's built-in one, and the PyPI package hpy, whose debug mode the tests use. Only the
 * first one has handles that are object pointers; code that relies on it is guarded by fb_ext. */
#ifndef FFI_HPY_CONTEXT_CONTEXT_H_
#define FFI_HPY_CONTEXT_CONTEXT_H_

#include <hpy.h>
#include <stdbool.h>
#include <string.h>

#include "core/platform/base.h"
#include "hpy_runtime/api/extension.h"

/* Hidden when it is declared, too, so that code reads these words in place and not through a table of addresses. */
#define FB_HIDDEN __attribute__((visibility("hidden")))

/* Both are written once, by fb_context_init during the import, and only read afterwards. */
extern FB_HIDDEN HPyContext *fb_ctx;          /* the context the module was initialised with */
extern FB_HIDDEN const FhpyExtension *fb_ext; /* NULL if that context has none */
/* Those of the extension, where the hot path has them at hand. */
extern FB_HIDDEN ptrdiff_t fb_context_data_offset, fb_context_type_offset, fb_context_tuple_items;

/* Whether fb_ctx may be used at any time by an attached thread: not so with the PyPI package hpy, whose debug mode has
 * a context for each call. Written with fb_ext. */
extern bool fb_context_is_lasting;
/* Whether a handle may be kept for long: not so with the PyPI package hpy, in whose debug mode a handle ends with its
 * context, nor in our debug mode, which would count it as one that was forgotten. Written with fb_ext. */
extern bool fb_context_keeps_handles;
/* Whether threads run without a GIL. Written with fb_ext. */
extern FB_HIDDEN bool fb_context_free_threaded;
/* Whether fb_ext->refcount_defer has an effect. Written with fb_ext. */
extern FB_HIDDEN bool fb_context_defers_refcounts;
/* Whether this is PyPy 7.3's own context. Written with fb_ext. */
extern bool fb_context_is_pypy;

/* Learns what there is to know of ctx. Returns 0, or -1 with an exception raised. */
int fb_context_init(HPyContext *ctx);

/* --- entries of the context that PyPy 7.3.18+ has one word later than hpy 0.9.0 ----------------------------------- */

/* Bytes by which ctx_Capsule_New and what follows it are displaced; written once by fb_context_init. */
extern size_t fb_context_late_shift;
/* Copies the function pointer of such an entry into the variable `fn` of the entry's type. */
#define FB_LATE(ctx, entry, fn) memcpy(&(fn), (const char *)&(ctx)->entry + fb_context_late_shift, sizeof(fn))

/* For an object that lives as long as the process, and that the calling thread made: threads that use it from now on do
 * not count their references to it, where they would do so in turns. */
FH_INLINE void fb_context_keep(HPy h) {
  if (fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, keep)) fb_ext->keep(h);
}

/* Whether both handles are of the same object. */
FH_INLINE bool fb_context_is_same(HPyContext *ctx, HPy a, HPy b) {
  return FH_LIKELY(fb_ext != NULL) ? a._i == b._i : HPy_Is(ctx, a, b);
}

#endif /* FFI_HPY_CONTEXT_CONTEXT_H_ */
