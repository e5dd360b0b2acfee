/* Native types defined in Python: registration through the C ABI.
 *
 * A type is defined in two steps, so that the fields of types may name each other: first its key, then its fields, once.
 * What can fail for other reasons than memory fails before the registry is touched. */
#ifndef FFI_HPY_MODULE_DEFINE_H_
#define FFI_HPY_MODULE_DEFINE_H_

#include "field.h"

/* The `which`th own field of a type that was defined here, else NULL. */
const FbField *fb_define_find(int32_t type_index, int32_t which);

extern HPyDef fb_type_define, fb_fields_define, fb_method_define, fb_type_attr_define;

#endif /* FFI_HPY_MODULE_DEFINE_H_ */
