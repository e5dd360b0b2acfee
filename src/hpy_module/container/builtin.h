/* Values of libraries that are bound with ffi_hpy/bind.h as containers of Python. */
#ifndef FFI_HPY_CONTAINER_BUILTIN_H_
#define FFI_HPY_CONTAINER_BUILTIN_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_builtin_enable, fb_builtin_items;

#endif /* FFI_HPY_CONTAINER_BUILTIN_H_ */
