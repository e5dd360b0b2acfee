/* CAny: a native value of its own, in Python's hands. */
#ifndef FFI_HPY_VALUE_CANY_H_
#define FFI_HPY_VALUE_CANY_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* A CAny of an owned value, which is taken, on failure too (HPy_NULL, exception raised). */
HPy fb_cany_new(HPyContext *ctx, TVMFFIAny *value);

extern HPyDef fb_cany_value;

/* New handle. */
HPy fb_cany_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_CANY_H_ */
