/* The core's registries as Python sees them: types, attribute columns, global functions. */
#ifndef FFI_HPY_MODULE_REGISTRY_H_
#define FFI_HPY_MODULE_REGISTRY_H_

#include <tvm/ffi/c_api.h>

#include "context.h"

/* A type's own value in an attribute column, borrowed for good; NULL if there is none. Any thread, attached or not. */
const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name);

extern HPyDef fb_type_key_to_index, fb_type_info, fb_type_attr, fb_global_get, fb_global_set;

#endif /* FFI_HPY_MODULE_REGISTRY_H_ */
