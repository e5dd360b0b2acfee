/* The reason why a value does not match a schema: one line that grows from the inside out, "element [1]: expected int,
 * got str". */
#ifndef FFI_HPY_SCHEMA_MISMATCH_H_
#define FFI_HPY_SCHEMA_MISMATCH_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

typedef enum FbConverted {
  FB_CONVERTED,
  FB_MISMATCH, /* the mismatch has the reason */
  FB_RAISED, /* another failure: an exception is raised, or, in native code, an error is pending */
} FbConverted;

/* Zero-initialised is empty. If the caller does not need the reason, it passes a NULL pointer, and no message is
 * made. */
typedef struct FbMismatch {
  char *text; /* owned; NULL if no message exists, or memory was exhausted */
  /* The type name of the original value while its converted form is checked; NULL: the checked value has its own
   * name. */
  const char *given;
} FbMismatch;

/* Replaces the message. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_set(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* Prepends to the message. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_prefix(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* Appends to the message and indents each line. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_append(FbMismatch *mismatch, const char *between, const char *indent, const char *text,
                               size_t byte_len);
void fb_mismatch_free(FbMismatch *mismatch);
FH_INLINE void fb_mismatch_end(FbMismatch *mismatch) {
  if (FH_UNLIKELY(mismatch->text != NULL)) fb_mismatch_free(mismatch);
}

/* Takes the thread's native error. If it is a conversion failure, its message is appended to the mismatch and the
 * result is FB_MISMATCH; an interruption (fb_error_is_interruption) stays pending: FB_RAISED. ctx is NULL in native
 * code, which has no context and may run on any thread. */
FbConverted fb_mismatch_take_native(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);
/* Like fb_mismatch_take_native, for the raised Python exception. */
FbConverted fb_mismatch_take_python(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);

#endif /* FFI_HPY_SCHEMA_MISMATCH_H_ */
