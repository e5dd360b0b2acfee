/* The scan for the cffi backend, as functions of the module. */
#ifndef FFI_HPY_COLLECT_CLOSED_H_
#define FFI_HPY_COLLECT_CLOSED_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_closed_find, fb_closed_break;

#endif /* FFI_HPY_COLLECT_CLOSED_H_ */
