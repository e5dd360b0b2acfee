/* CAny: a Python object that owns a native value. */
#ifndef FFI_HPY_VALUE_CANY_H_
#define FFI_HPY_VALUE_CANY_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Makes a CAny of an owned value. Steals the value, also on failure (HPy_NULL with an exception raised). */
HPy fb_cany_new(HPyContext *ctx, TVMFFIAny *value);

extern HPyDef fb_cany_value;

/* New handle. */
HPy fb_cany_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_CANY_H_ */
