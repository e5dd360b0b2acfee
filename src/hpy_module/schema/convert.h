/* Conversion of native values, containers and Python values by a schema. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* Converts a view; the caller owns *out. FB_RAISED leaves a native error pending. */
typedef FbConverted (*FbConverter)(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* Converters of files above this one, set during the import: fb_convert_container for a schema of a sequence, tuple or
 * mapping; fb_convert_attached for a view that Python must convert, on any thread, attached or not. */
extern FbConverter fb_convert_container, fb_convert_attached;

/* An FbConverter with the implicit conversions of the ABI. A container whose items are all unchanged is returned
 * unchanged. Callable from any thread, attached or not. Attaches the thread only for values that need Python: a Python
 * object owned by native code, the name of a device, an integer beyond 64 bits. */
FbConverted fb_convert_view(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* Like fb_convert_view, for a view of a value that Python code has converted already. */
FbConverted fb_convert_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

/* fb_convert_view with the signature of ffi.MakeFieldSetter's converter: `schema` is an FbSchema. Returns -1 with
 * TypeError pending if the value does not match. */
int fb_convert_for_setter(void *schema, const TVMFFIAny *view, TVMFFIAny *out);

/* Returns the view itself, owned. */
FbConverted fb_convert_own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);
/* Converts a view by the __ffi_convert__ of a type; FB_MISMATCH without a message if the type has none. */
FbConverted fb_convert_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch);

FH_INLINE bool fb_convert_is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }

/* Stores a plain value in *out. Returns FB_CONVERTED. */
FH_INLINE FbConverted fb_convert_put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  *out = (TVMFFIAny){.type_index = type_index};
  out->v_int64 = payload;
  return FB_CONVERTED;
}

/* --- containers --------------------------------------------------------------------------------------------------- */

/* Conversion of containers by a schema. */

/* Sets fb_convert_container. */
void fb_convert_container_init(void);

/* Makes the container of a sequence, tuple or mapping schema from its values. Returns like fb_convert_view. */
FbConverted fb_convert_container_build(const FbSchema *schema, const FbValues *values, TVMFFIAny *out,
                                       FbMismatch *mismatch);
/* Returns the schema of the i-th item of a sequence or tuple, or of the i-th of key, value, key, ... of a mapping. */
FH_INLINE const FbSchema *fb_convert_container_item(const FbSchema *schema, int64_t i) {
  if (schema->op == FB_SCHEMA_TUPLE) return schema->args[i];
  return schema->op == FB_SCHEMA_MAPPING ? schema->args[i & 1] : schema->args[0];
}

/* --- Python values ------------------------------------------------------------------------------------------------ */

/* Conversion of Python values by a schema. */

/* Converts a Python value; the caller owns *out. First the value's protocols replace the value; the result is converted
 * item by item or by its ordinary conversion. FB_RAISED leaves a Python exception raised. */
FbConverted fb_convert_python_value(HPyContext *ctx, const FbSchema *schema, HPy value, TVMFFIAny *out,
                                    FbMismatch *mismatch);

/* Sets fb_convert_attached. */
void fb_convert_python_init(void);
