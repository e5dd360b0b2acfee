/* What is said of a native value that does not fit a schema. */
#ifndef FFI_HPY_SCHEMA_REFUSE_H_
#define FFI_HPY_SCHEMA_REFUSE_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* FB_MISFIT: "expected X, got `given`". */
FbFit fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given);
/* FB_MISFIT for a tuple that came with n_given items. */
FbFit fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given);
/* FB_MISFIT for a view, which is described. */
FbFit fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* As fb_refuse_view, with the pending native error as the reason. FB_RAISED for an error that is about something else
 * (an interruption, the lack of memory), which stays pending. */
FbFit fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch);
/* FB_RAISED with MemoryError pending. */
FbFit fb_refuse_no_memory(void);
/* What messages call the type of a view. The text lives for good. */
const char *fb_refuse_describe(const TVMFFIAny *view);
/* As fb_refuse_describe, unless the mismatch says what the view was made from (`given`). */
const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_REFUSE_H_ */
