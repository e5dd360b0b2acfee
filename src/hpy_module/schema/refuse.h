/* Messages about native values that do not match a schema. */
#ifndef FFI_HPY_SCHEMA_REFUSE_H_
#define FFI_HPY_SCHEMA_REFUSE_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* FB_MISFIT: "expected X, got `given`". */
FbFit fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given);
/* FB_MISFIT for a tuple with n_given items. */
FbFit fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given);
/* FB_MISFIT with a description of the view. */
FbFit fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* Like fb_refuse_view, with the pending native error as the reason. FB_RAISED if the error is unrelated (an
 * interruption, exhausted memory); it stays pending. */
FbFit fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* FB_RAISED with MemoryError pending. */
FbFit fb_refuse_no_memory(void);
/* Returns the name of the view's type for messages. The string is valid for the life of the process. */
const char *fb_refuse_describe(const TVMFFIAny *view);
/* Like fb_refuse_describe, unless the mismatch has the name of the original value (`given`). */
const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_REFUSE_H_ */
