/* Owned native values, and the references that own them. */
#ifndef FFI_HPY_CONTEXT_ANY_H_
#define FFI_HPY_CONTEXT_ANY_H_

#include <tvm/ffi/c_api.h>

#include "context.h"

/* combined_ref_count of an object with one owner: one strong reference and its weak reference. */
#define FB_ONLY_REFERENCE (UINT64_C(1) << 32 | 1)

/* The arguments of a call without arguments. The pointer is not NULL, because functions in Rust make a slice of it. */
static const TVMFFIAny fb_no_arguments[1];

/* Releases an owned value if it is an object. Any thread may call it. */
FH_INLINE void fb_any_drop(const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
}

#endif /* FFI_HPY_CONTEXT_ANY_H_ */
