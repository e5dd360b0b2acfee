/* The HPy context as the binding sees it: which implementation runs, its extension, and the entries that moved.
 *
 * Three implementations serve this binary: the package's own (with the extension of hpy_runtime/api/extension.h, or in
 * debug mode without), PyPy 7.3's built-in one, and the PyPI package hpy, whose debug mode the tests use. Only the first
 * one has handles that are object pointers; code that relies on it is guarded by fb_ext.
 */
#ifndef FFI_HPY_MODULE_CONTEXT_H_
#define FFI_HPY_MODULE_CONTEXT_H_

#include <hpy.h>
#include <stdbool.h>
#include <stdio.h>

#include "hpy_runtime/api/extension.h"

#if defined(__GNUC__)
#define FB_LIKELY(x) __builtin_expect(!!(x), 1)
#define FB_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FB_INLINE static inline __attribute__((always_inline))
#define FB_NOINLINE __attribute__((noinline))
#define FB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define FB_LIKELY(x) (x)
#define FB_UNLIKELY(x) (x)
#define FB_INLINE static inline
#define FB_NOINLINE
#define FB_PRINTF(text, first)
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#define FB_THREAD_LOCAL __declspec(thread)
#else
#define FB_THREAD_LOCAL _Thread_local
#endif

/* Both are written once, by fb_context_init during the import, and only read afterwards. */
extern HPyContext *fb_ctx;          /* the context the module was initialised with */
extern const FhpyExtension *fb_ext; /* NULL if that context has none */
/* Those of the extension, where the hot path has them at hand. */
extern ptrdiff_t fb_data_offset, fb_type_offset, fb_tuple_items;

/* Whether fb_ctx may be used at any time by an attached thread: not so in hpy's debug mode. Written with fb_ext. */
extern bool fb_contexts_are_lasting;
/* Whether a handle may be kept for long: in hpy's debug mode it ends with its context, and in ours it would count as one
 * that was forgotten. Written with fb_ext. */
extern bool fb_handles_are_lasting;
/* Whether this is PyPy 7.3's own context. Written with fb_ext. */
extern bool fb_is_pypy;

/* Learns what there is to know of ctx. Returns 0, or -1 with an exception raised. */
int fb_context_init(HPyContext *ctx);

/* --- threads ---------------------------------------------------------------------------------------------------- */

/* What a native call on this thread left behind, for callbacks that arrive on it without a context.
 * Maintained only where there is no extension; see fb_call_enter. */
typedef struct FbCallState {
  HPyContext *ctx; /* context of the innermost native call on this thread; NULL: none is running */
  HPyThreadState released;
  bool is_released; /* the call gave up the interpreter; `released` takes it back */
} FbCallState;

/* Brackets native code: gives up the interpreter if asked to and lets callbacks find their way back. */
void fb_call_enter(HPyContext *ctx, bool release, FbCallState *outer);
void fb_call_leave(const FbCallState *outer);

/* The same for native code that runs within a method and keeps the interpreter, but may call back. */
FB_INLINE void fb_call_enter_held(HPyContext *ctx, FbCallState *outer) {
  if (FB_UNLIKELY(fb_ext == NULL)) fb_call_enter(ctx, false, outer);
}
FB_INLINE void fb_call_leave_held(const FbCallState *outer) {
  if (FB_UNLIKELY(fb_ext == NULL)) fb_call_leave(outer);
}

/* An attached thread, from wherever it came. */
typedef struct FbAttach {
  HPyContext *ctx; /* valid until fb_detach */
  int token;
  int how; /* without the extension only */
} FbAttach;

int fb_attach_without_extension(FbAttach *out);
void fb_detach_without_extension(FbAttach *attach);

/* Makes the context usable on the calling thread. Returns 0, or -1 if the interpreter is finalizing: then no object may
 * be touched and fb_detach must not be called. */
FB_INLINE int fb_attach(FbAttach *out) {
  if (FB_UNLIKELY(fb_ext == NULL)) return fb_attach_without_extension(out);
  out->ctx = fb_ctx;
  out->token = fb_ext->thread_attach();
  return out->token < 0 ? -1 : 0;
}
FB_INLINE void fb_detach(FbAttach *attach) {
  if (FB_UNLIKELY(fb_ext == NULL)) {
    fb_detach_without_extension(attach);
  } else {
    fb_ext->thread_detach(attach->token);
  }
}

/* Whether Python objects must be left alone because the interpreter is going away. */
bool fb_is_finalizing(void);
/* From now on no thread comes in from outside; waits, a second at most, for those that are inside. */
void fb_mark_finalizing(HPyContext *ctx);

/* --- entries of the context that PyPy 7.3.18+ has one word later than hpy 0.9.0 ----------------------------------- */

/* Bytes by which ctx_Capsule_New and what follows it are displaced; written once by fb_context_init. */
extern size_t fb_late_shift;
/* Copies the function pointer of such an entry into the variable `fn` of the entry's type. */
#define FB_LATE(ctx, entry, fn) memcpy(&(fn), (const char *)&(ctx)->entry + fb_late_shift, sizeof(fn))

/* As HPy_Call: new handle, or HPy_NULL with an exception raised. */
FB_INLINE HPy fb_call(HPyContext *ctx, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  HPy (*call)(HPyContext *, HPy, const HPy *, size_t, HPy);
  FB_LATE(ctx, ctx_Call, call);
  return call(ctx, callable, args, nargs, kwnames);
}
/* Calls a method; args[0] is the object. */
FB_INLINE HPy fb_call_method(HPyContext *ctx, HPy name, const HPy *args, size_t nargs) {
  HPy (*call)(HPyContext *, HPy, const HPy *, size_t, HPy);
  FB_LATE(ctx, ctx_CallMethod, call);
  return call(ctx, name, args, nargs, HPy_NULL);
}
/* Calls with one argument. */
FB_INLINE HPy fb_call_one(HPyContext *ctx, HPy callable, HPy arg) { return fb_call(ctx, callable, &arg, 1, HPy_NULL); }

/* --- small helpers ------------------------------------------------------------------------------------------------ */

/* Raises an exception of type h_type with a formatted message. Returns HPy_NULL. */
HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) FB_PRINTF(3, 4);
/* The i'th item of a tuple, which keeps it; only where fb_tuple_items is not 0. */
FB_INLINE HPy fb_tuple_item(HPy tuple, HPy_ssize_t i) {
  HPy item;
  memcpy(&item, (const char *)tuple._i + fb_tuple_items + (size_t)i * sizeof(item), sizeof(item));
  return item;
}
/* Whether both handles are of the same object. */
FB_INLINE bool fb_is(HPyContext *ctx, HPy a, HPy b) {
  return FB_LIKELY(fb_ext != NULL) ? a._i == b._i : HPy_Is(ctx, a, b);
}
/* An attribute. HPy_NULL without an exception if there is none, and with one if looking for it failed. */
HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name);
/* type(h).__name__ into buffer; never fails. Returns buffer. */
const char *fb_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size);

#endif /* FFI_HPY_MODULE_CONTEXT_H_ */
