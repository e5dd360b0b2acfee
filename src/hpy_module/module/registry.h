/* The core's registries as functions of the module: types, attribute columns, global functions. */
#ifndef FFI_HPY_MODULE_REGISTRY_H_
#define FFI_HPY_MODULE_REGISTRY_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

extern HPyDef fb_registry_type_index, fb_registry_type_info, fb_registry_type_attr, fb_registry_get_global,
    fb_registry_global_metadata, fb_registry_set_global;

#endif /* FFI_HPY_MODULE_REGISTRY_H_ */
