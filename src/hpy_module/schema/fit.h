/* Native values into native values that fit a schema; those of Python are in fit_python.h. */
#ifndef FFI_HPY_SCHEMA_FIT_H_
#define FFI_HPY_SCHEMA_FIT_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* Makes *out, owned by the caller, of a view. FB_RAISED leaves a native error pending. */
typedef FbFit (*FbFitter)(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* The fitters of files above this one, which set them during the import: for a schema of a sequence, tuple or mapping;
 * and for the Python value of a view, on any thread, attached or not. */
extern FbFitter fb_fit_container, fb_fit_attached;

/* An FbFitter that does as the implicit conversions of the ABI do: a container whose items all stay what they are stays
 * itself. Any thread, attached or not; it attaches itself for what only Python knows: a Python object held by native
 * code, the name of a device, an integer beyond 64 bits. */
FbFit fb_fit_view(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* As fb_fit_view, for a view made of a Python value, for which Python was asked already. */
FbFit fb_fit_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* fb_fit_view in the shape of ffi.MakeFieldSetter's converter: `schema` is an FbSchema; -1 with TypeError pending for a
 * value that does not fit. */
int fb_fit_converter(void *schema, const TVMFFIAny *view, TVMFFIAny *out);

/* The view itself, owned. */
FbFit fb_fit_own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);
/* What the __ffi_convert__ of a type makes of a view; FB_MISFIT and no word if the type has none. */
FbFit fb_fit_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

FH_INLINE bool fb_fit_is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }

/* Makes *out a plain value. Returns FB_FIT. */
FH_INLINE FbFit fb_fit_put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  *out = (TVMFFIAny){.type_index = type_index};
  out->v_int64 = payload;
  return FB_FIT;
}

#endif /* FFI_HPY_SCHEMA_FIT_H_ */
