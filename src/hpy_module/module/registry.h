/* The core's registries as Python sees them: types, attribute columns, global functions. */
#ifndef FFI_HPY_MODULE_REGISTRY_H_
#define FFI_HPY_MODULE_REGISTRY_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

extern HPyDef fb_type_key_to_index, fb_type_info, fb_type_attr, fb_global_get, fb_global_set;

#endif /* FFI_HPY_MODULE_REGISTRY_H_ */
