/* Methods that copy an object. Every CObject has them under private names (_shallow_copy, _deep_copy). A dataclass
 * decorator stores them in a class as __copy__ and __deepcopy__, so that no Python code runs in between. They keep the
 * GIL: the core does the work, and calls Python only for the hooks of a type. */
#ifndef FFI_HPY_RECORD_DATACLASS_H_
#define FFI_HPY_RECORD_DATACLASS_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_dataclass_copy, fb_dataclass_deep_copy;

#endif /* FFI_HPY_RECORD_DATACLASS_H_ */
