/* Members of bound enums as native values. */
#ifndef FFI_HPY_VALUE_MEMBER_H_
#define FFI_HPY_VALUE_MEMBER_H_

#include "hpy_module/context/context.h"

void fb_member_init(void);

extern HPyDef fb_member_register;

#endif /* FFI_HPY_VALUE_MEMBER_H_ */
