/* Why a value does not fit a schema: one line that grows from the inside out, "element [1]: expected int, got str". */
#ifndef FFI_HPY_SCHEMA_MISMATCH_H_
#define FFI_HPY_SCHEMA_MISMATCH_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

typedef enum FbFit {
  FB_FIT,
  FB_MISFIT, /* the mismatch says why */
  FB_RAISED, /* something else went wrong: an exception is raised, or on the native side an error is pending */
} FbFit;

/* Zero-initialised is empty. A NULL pointer in its place means that nobody wants to know: then no text is made. */
typedef struct FbMismatch {
  char *text; /* owned; NULL if nothing was said, or there was no memory to say it */
  /* What came, in the caller's words, while something made from it is looked at; NULL: the thing itself tells. */
  const char *given;
} FbMismatch;

/* Replaces the text. Always returns FB_MISFIT. */
FbFit fb_mismatch_set(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* Puts text in front. Always returns FB_MISFIT. */
FbFit fb_mismatch_prefix(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* Puts text behind, each line of it indented. Always returns FB_MISFIT. */
FbFit fb_mismatch_append(FbMismatch *mismatch, const char *between, const char *indent, const char *text,
                         size_t byte_len);
void fb_mismatch_free(FbMismatch *mismatch);
FH_INLINE void fb_mismatch_end(FbMismatch *mismatch) {
  if (FH_UNLIKELY(mismatch->text != NULL)) fb_mismatch_free(mismatch);
}

/* Takes the thread's native error: if it is one that a conversion may fail with, its message is appended to the
 * mismatch and the result FB_MISFIT; an interruption (fb_error_is_interruption) stays pending: FB_RAISED. Native code,
 * on any thread, has no context: NULL. */
FbFit fb_mismatch_take_native(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);
/* As fb_mismatch_take_native, for the raised Python exception. */
FbFit fb_mismatch_take_python(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);

#endif /* FFI_HPY_SCHEMA_MISMATCH_H_ */
