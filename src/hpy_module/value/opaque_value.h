/* Python objects as native values: ffi.OpaquePyObject. */
#ifndef FFI_HPY_VALUE_OPAQUE_VALUE_H_
#define FFI_HPY_VALUE_OPAQUE_VALUE_H_

#include "hpy_module/context/context.h"
#include "hpy_module/convert/args.h"

/* Registers the conversion of Python objects without another native form. Called once during the import. */
void fb_opaque_value_init(void);

/* Returns a new native object that owns a Python object; NULL with an exception raised. */
TVMFFIObject *fb_opaque_value_new(HPyContext *ctx, HPy value);
/* The FbConversion of Python objects without another native form. */
int fb_opaque_value_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

extern HPyDef fb_opaque_value_hold;

#endif /* FFI_HPY_VALUE_OPAQUE_VALUE_H_ */
