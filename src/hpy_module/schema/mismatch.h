/* The reason why a value does not match a schema: one line that grows from the inside out, "element [1]: expected int,
 * got str". */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"
#include "schema.h"

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
  bool is_outside_range; /* the value is a number outside the range of its type: a field raises OverflowError */
} FbMismatch;

/* Replaces the message, and says nothing about a range. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_set(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* Prepends to the message. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_prefix(FbMismatch *mismatch, const char *format, ...) FH_PRINTF(2, 3);
/* The value is a number outside a range, about which the message is. Always returns FB_MISMATCH. */
FH_INLINE FbConverted fb_mismatch_is_outside_range(FbMismatch *mismatch) {
  if (mismatch != NULL) mismatch->is_outside_range = true;
  return FB_MISMATCH;
}
/* Appends to the message and indents each line. Always returns FB_MISMATCH. */
FbConverted fb_mismatch_append(FbMismatch *mismatch, const char *between, const char *indent, const char *text,
                               size_t byte_len);
void fb_mismatch_free(FbMismatch *mismatch);
FH_INLINE void fb_mismatch_end(FbMismatch *mismatch) {
  if (FH_UNLIKELY(mismatch->text != NULL)) fb_mismatch_free(mismatch);
}

/* Takes the thread's native error. If it is a conversion failure, its message is appended to the mismatch, which is
 * about a range if the error is an OverflowError, and the result is FB_MISMATCH; an interruption
 * (fb_error_is_interruption) stays pending: FB_RAISED. ctx is NULL in native code, which has no context and may run on
 * any thread. */
FbConverted fb_mismatch_take_native(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);
/* Like fb_mismatch_take_native, for the raised Python exception. */
FbConverted fb_mismatch_take_python(HPyContext *ctx, FbMismatch *mismatch, const char *between, const char *indent);

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Messages about native values that do not match a schema. */

/* FB_MISMATCH: "expected X, got `given`". */
FbConverted fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given);
/* FB_MISMATCH for a tuple with n_given items. */
FbConverted fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given);
/* FB_MISMATCH with a description of the view. */
FbConverted fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* Like fb_refuse_view, with the pending native error as the reason. FB_RAISED if the error is unrelated (an
 * interruption, exhausted memory); it stays pending. */
FbConverted fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* FB_RAISED with MemoryError pending. */
FbConverted fb_refuse_no_memory(void);
/* Returns the name of the view's type for messages. The string is valid for the life of the process. */
const char *fb_refuse_describe(const TVMFFIAny *view);
/* Like fb_refuse_describe, unless the mismatch has the name of the original value (`given`). */
const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch);

/* --- values ------------------------------------------------------------------------------------------------------ */

/* An array of owned values for a container. */

/* Zero-initialised is empty. */
typedef struct FbValues {
  TVMFFIAny *data; /* of which n are set */
  int32_t n;
} FbValues;

/* Allocates room for n values. Returns 0, or -1 if memory is exhausted. */
int fb_values_begin(FbValues *values, int64_t n);
void fb_values_end(FbValues *values);
/* Like fb_values_end, on an attached thread on which an exception may be raised. */
void fb_values_abandon(FbValues *values);
