/* Members of bound enums as native values. */
#ifndef FFI_HPY_VALUE_MEMBER_H_
#define FFI_HPY_VALUE_MEMBER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

void fb_member_init(void);

/* Returns the native object of a member, borrowed: it lasts as long as the process. NULL for other values. */
TVMFFIObject *fb_member_find(HPy value);

extern HPyDef fb_member_register;

#endif /* FFI_HPY_VALUE_MEMBER_H_ */
