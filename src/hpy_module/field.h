/* Reflected fields as Python descriptors. */
#ifndef FFI_HPY_MODULE_FIELD_H_
#define FFI_HPY_MODULE_FIELD_H_

#include "context.h"

extern HPyDef fb_field_descriptor, fb_field_accessors;

#endif /* FFI_HPY_MODULE_FIELD_H_ */
