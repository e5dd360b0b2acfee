/* Attribute columns of types, read without a call into the core. */
#ifndef FFI_HPY_OBJECT_TYPE_ATTR_H_
#define FFI_HPY_OBJECT_TYPE_ATTR_H_

#include <tvm/ffi/c_api.h>

/* Returns a type's own value in an attribute column, borrowed for good; NULL if there is none. Callable from any
 * thread, attached or not. */
const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name);

/* Like fb_type_attr_find, for a column at hand. Columns live as long as the process. */
const TVMFFIAny *fb_type_attr_in(const TVMFFITypeAttrColumn *column, int32_t type_index);

#endif /* FFI_HPY_OBJECT_TYPE_ATTR_H_ */
