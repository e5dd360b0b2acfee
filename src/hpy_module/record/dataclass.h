/* Methods over the fields of an object: comparison, order, hash, copies.
 *
 * Every CObject has them under private names (_recursive_eq, ...). A dataclass decorator stores one of these methods in
 * a class as __eq__ and so on, so that no Python code runs in between. They keep the GIL: the core does the work, and
 * calls Python only for the hooks of a type. */
#ifndef FFI_HPY_RECORD_DATACLASS_H_
#define FFI_HPY_RECORD_DATACLASS_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_dataclass_eq, fb_dataclass_ne, fb_dataclass_lt, fb_dataclass_le, fb_dataclass_gt, fb_dataclass_ge;
extern HPyDef fb_dataclass_hash, fb_dataclass_copy, fb_dataclass_deep_copy;

#endif /* FFI_HPY_RECORD_DATACLASS_H_ */
