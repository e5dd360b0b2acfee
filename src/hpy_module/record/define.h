/* Native types defined in Python: registration through the C ABI.
 *
 * A type is defined in two steps, so that the fields of types may refer to each other: first its key, then, once, its
 * fields. If the field names are distinct, only exhausted memory can make the second step fail after it has changed the
 * registry. */
#ifndef FFI_HPY_RECORD_DEFINE_H_
#define FFI_HPY_RECORD_DEFINE_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_define_type, fb_define_fields, fb_define_method, fb_define_type_attr;

#endif /* FFI_HPY_RECORD_DEFINE_H_ */
