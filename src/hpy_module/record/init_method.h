/* A method without a Python frame, the `__init__` of classes whose objects a plan or a native function makes. */
#ifndef FFI_HPY_RECORD_INIT_METHOD_H_
#define FFI_HPY_RECORD_INIT_METHOD_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_init_method;

/* New handle, or HPy_NULL with an exception raised. */
HPy fb_init_method_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_INIT_METHOD_H_ */
