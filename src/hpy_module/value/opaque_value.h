/* Python objects as native values: ffi.OpaquePyObject. */
#ifndef FFI_HPY_VALUE_OPAQUE_VALUE_H_
#define FFI_HPY_VALUE_OPAQUE_VALUE_H_

#include "hpy_module/context/context.h"

/* Registers the conversion of Python objects without another native form. Called once during the import. */
void fb_opaque_value_init(void);

extern HPyDef fb_opaque_value_hold;

#endif /* FFI_HPY_VALUE_OPAQUE_VALUE_H_ */
