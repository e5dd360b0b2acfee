/* The class CObject. */
#ifndef FFI_HPY_RECORD_COBJECT_H_
#define FFI_HPY_RECORD_COBJECT_H_

#include "hpy_module/context/context.h"

/* Makes the class, before all other classes whose instances own a handle. Returns a new handle, or HPy_NULL with an
 * exception raised. */
HPy fb_cobject_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_COBJECT_H_ */
