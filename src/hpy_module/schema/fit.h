/* Conversion of native values by a schema. fit_python.h converts Python values. */
#ifndef FFI_HPY_SCHEMA_FIT_H_
#define FFI_HPY_SCHEMA_FIT_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* Converts a view; the caller owns *out. FB_RAISED leaves a native error pending. */
typedef FbFit (*FbFitter)(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* Converters of files above this one, set during the import: fb_fit_container for a schema of a sequence, tuple or
 * mapping; fb_fit_attached for a view that Python must convert, on any thread, attached or not. */
extern FbFitter fb_fit_container, fb_fit_attached;

/* An FbFitter with the implicit conversions of the ABI. A container whose items are all unchanged is returned
 * unchanged. Callable from any thread, attached or not. Attaches the thread only for values that need Python: a Python
 * object owned by native code, the name of a device, an integer beyond 64 bits. */
FbFit fb_fit_view(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* Like fb_fit_view, for a view of a value that Python code has converted already. */
FbFit fb_fit_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* fb_fit_view with the signature of ffi.MakeFieldSetter's converter: `schema` is an FbSchema. Returns -1 with TypeError
 * pending if the value does not match. */
int fb_fit_converter(void *schema, const TVMFFIAny *view, TVMFFIAny *out);

/* Returns the view itself, owned. */
FbFit fb_fit_own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);
/* Converts a view by the __ffi_convert__ of a type; FB_MISFIT without a message if the type has none. */
FbFit fb_fit_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

FH_INLINE bool fb_fit_is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }

/* Stores a plain value in *out. Returns FB_FIT. */
FH_INLINE FbFit fb_fit_put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  *out = (TVMFFIAny){.type_index = type_index};
  out->v_int64 = payload;
  return FB_FIT;
}

#endif /* FFI_HPY_SCHEMA_FIT_H_ */
