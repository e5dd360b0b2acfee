/* The HPy context: the running implementation, its extension, and the displaced entries of its table.
 *
 * The binding's binary runs on three implementations: the package's own (with the extension of
 * hpy_runtime/api/extension.h; in debug mode without it), PyPy 7.3's built-in one, and the PyPI package hpy, whose
 * debug mode the tests use. Only the first has handles that are object pointers; code that depends on this is guarded
 * by fb_ext. */
#pragma once

#include <hpy.h>
#include <stdbool.h>
#include <string.h>

#include "core/platform/base.h"
#include "hpy_runtime/api/extension.h"

/* Hidden visibility in the declaration lets code access these words directly and not through the GOT. */
#define FB_HIDDEN __attribute__((visibility("hidden")))

/* Both are written once, by fb_context_init during the import. */
extern FB_HIDDEN HPyContext *fb_ctx;          /* the context the module was initialised with */
extern FB_HIDDEN const FhpyExtension *fb_ext; /* NULL if that context has none */
/* Copies of the extension's offsets, for the hot path. */
extern FB_HIDDEN ptrdiff_t fb_context_data_offset, fb_context_type_offset, fb_context_tuple_items;
extern FB_HIDDEN ptrdiff_t fb_context_list_items;

/* Whether an attached thread may use fb_ctx at any time. False for the PyPI package hpy, whose debug mode has a context
 * per call. Written together with fb_ext. */
extern bool fb_context_is_lasting;
/* Whether a handle may outlive a call. False for the PyPI package hpy, in whose debug mode a handle ends with its
 * context, and in our debug mode, which would report such a handle as leaked. Written together with fb_ext. */
extern bool fb_context_keeps_handles;
/* Whether the interpreter runs without a GIL. Written together with fb_ext. */
extern FB_HIDDEN bool fb_context_free_threaded;
/* Whether fb_ext->refcount_defer has an effect. Written together with fb_ext. */
extern FB_HIDDEN bool fb_context_defers_refcounts;
/* Whether the garbage collector sees the references of native objects. Written together with fb_ext. */
extern FB_HIDDEN bool fb_context_collects;
/* Whether this is PyPy 7.3's own context. Written together with fb_ext. */
extern bool fb_context_is_pypy;

/* Determines the properties of ctx. Returns 0, or -1 with an exception raised. */
int fb_context_init(HPyContext *ctx);

/* --- entries of the context that PyPy 7.3.18+ has one word later than hpy 0.9.0 ----------------------------------- */

/* The displacement in bytes of ctx_Capsule_New and all later entries. Written once by fb_context_init. */
extern size_t fb_context_late_shift;
/* Copies the function pointer of such an entry into the variable `fn` of the entry's type. */
#define FB_LATE(ctx, entry, fn) memcpy(&(fn), (const char *)&(ctx)->entry + fb_context_late_shift, sizeof(fn))

/* Marks an object that the calling thread made and that lives as long as the process: from now on threads do not count
 * their references to the object where they would contend for its reference count. */
FH_INLINE void fb_context_keep(HPy h) {
  if (fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, keep)) fb_ext->keep(h);
}

/* Whether both handles refer to the same object. */
FH_INLINE bool fb_context_is_same(HPyContext *ctx, HPy a, HPy b) {
  return FH_LIKELY(fb_ext != NULL) ? a._i == b._i : HPy_Is(ctx, a, b);
}

/* --- references --------------------------------------------------------------------------------------------------- */

/* Strong references to Python objects, stored outside of Python objects. */

/* An owned reference that outlives the call that made it. Zero-initialised is empty.
 *
 * The reference is a handle where handles may be kept (fb_context_keeps_handles), and an HPyGlobal elsewhere. PyPy 7.3,
 * which does not release the object of an HPyGlobal, uses handles. Concurrent reads are allowed; while a reference is
 * overwritten or cleared, no other thread may use it. */
typedef struct FbRef {
  HPy handle;
  HPyGlobal global;
} FbRef;

/* Fills an empty reference. */
void fb_ref_store(HPyContext *ctx, FbRef *ref, HPy h);
/* Returns a new handle; HPy_NULL if the reference is empty. */
HPy fb_ref_load(HPyContext *ctx, const FbRef *ref);
/* Returns a borrowed handle, valid as long as the reference; fb_ref_return ends the borrow. */
FH_INLINE HPy fb_ref_borrow(HPyContext *ctx, const FbRef *ref) {
  return FH_LIKELY(fb_context_keeps_handles) ? ref->handle : fb_ref_load(ctx, ref);
}
FH_INLINE void fb_ref_return(HPyContext *ctx, HPy borrowed) {
  if (FH_UNLIKELY(!fb_context_keeps_handles)) HPy_Close(ctx, borrowed);
}
/* Releases the object and leaves the reference empty. */
void fb_ref_clear(HPyContext *ctx, FbRef *ref);

/* Where handles may be kept, a reference may borrow the object of a caller until it returns. fb_ref_lend fills an empty
 * reference, or one whose own reference was released, with a borrowed handle. Then fb_ref_own makes the handle an owned
 * one, or fb_ref_end_loan leaves the reference empty. */
FH_INLINE void fb_ref_lend(FbRef *ref, HPy borrowed) { ref->handle = borrowed; }
FH_INLINE void fb_ref_own(HPyContext *ctx, FbRef *ref) { ref->handle = HPy_Dup(ctx, ref->handle); }
FH_INLINE void fb_ref_end_loan(FbRef *ref) { ref->handle = HPy_NULL; }

/* The heads of C functions for Python, of methods and of functions of the module, whose self is the module. */
#define FB_METHOD(SYMBOL, NAME, DOC)                     \
  HPyDef_METH(SYMBOL, NAME, HPyFunc_VARARGS, .doc = DOC) \
  static HPy SYMBOL##_impl(HPyContext *ctx, FH_MAYBE_UNUSED HPy self, const HPy *args, size_t nargs)
#define FB_METHOD_KEYWORDS(SYMBOL, NAME, DOC)             \
  HPyDef_METH(SYMBOL, NAME, HPyFunc_KEYWORDS, .doc = DOC) \
  static HPy SYMBOL##_impl(HPyContext *ctx, FH_MAYBE_UNUSED HPy self, const HPy *args, size_t nargs, HPy kwnames)
#define FB_METHOD_O(SYMBOL, NAME, ARG, DOC)        \
  HPyDef_METH(SYMBOL, NAME, HPyFunc_O, .doc = DOC) \
  static HPy SYMBOL##_impl(HPyContext *ctx, FH_MAYBE_UNUSED HPy self, HPy ARG)
#define FB_METHOD_NOARGS(SYMBOL, NAME, DOC)             \
  HPyDef_METH(SYMBOL, NAME, HPyFunc_NOARGS, .doc = DOC) \
  static HPy SYMBOL##_impl(HPyContext *ctx, FH_MAYBE_UNUSED HPy self)

/* Defines a read-only attribute: VALUE is an expression of ctx and self, a new handle or HPy_NULL. */
#define FB_GETTER(SYMBOL, NAME, VALUE, DOC)                           \
  HPyDef_GET(SYMBOL, NAME, .doc = DOC)                                \
  static HPy SYMBOL##_get(HPyContext *ctx, HPy self, void *closure) { \
    (void)closure;                                                    \
    return VALUE;                                                     \
  }
