/* cover(): see covered.c. */
#ifndef FFI_HPY_FUNCTION_COVERED_H_
#define FFI_HPY_FUNCTION_COVERED_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_covered_cover;

#endif /* FFI_HPY_FUNCTION_COVERED_H_ */
