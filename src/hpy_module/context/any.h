/* Owned native values. */
#ifndef FFI_HPY_CONTEXT_ANY_H_
#define FFI_HPY_CONTEXT_ANY_H_

#include <tvm/ffi/c_api.h>

#include "context.h"

/* Gives up the reference of an owned value, if it is to an object. Any thread. */
FB_INLINE void fb_any_drop(const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
}

#endif /* FFI_HPY_CONTEXT_ANY_H_ */
