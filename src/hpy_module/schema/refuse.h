/* Messages about native values that do not match a schema. */
#ifndef FFI_HPY_SCHEMA_REFUSE_H_
#define FFI_HPY_SCHEMA_REFUSE_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

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

#endif /* FFI_HPY_SCHEMA_REFUSE_H_ */
