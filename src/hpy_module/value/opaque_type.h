/* The class OpaquePyObject. */
#ifndef FFI_HPY_VALUE_OPAQUE_TYPE_H_
#define FFI_HPY_VALUE_OPAQUE_TYPE_H_

#include "hpy_module/context/context.h"

HPy fb_opaque_type_new(HPyContext *ctx, HPy base);

#endif /* FFI_HPY_VALUE_OPAQUE_TYPE_H_ */
