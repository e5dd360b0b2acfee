/* Releases values while an exception may be raised.
 *
 * Releasing the last reference to an object runs its destructor, which may be foreign code that calls Python, for
 * example a DLPack deleter written with ctypes. Such code must neither see nor replace the raised exception. These
 * functions save the exception around the destructor. The plain functions (TVMFFIObjectDecRef, any.h) are for threads
 * that are not attached, and for callers that know that no exception is raised. */
#ifndef FFI_HPY_CONTEXT_DROP_H_
#define FFI_HPY_CONTEXT_DROP_H_

#include "any.h"

/* For `rc`: the caller does not know whether an exception is raised. */
enum { FB_DROP_UNKNOWN = -1 };

void fb_drop_aside(TVMFFIObjectHandle object);

/* Releases a reference; NULL is accepted. `rc` is the caller's return code: if it is 0, no exception is raised. */
FH_INLINE void fb_drop_object(TVMFFIObjectHandle object, int rc) {
  if (FH_LIKELY(rc == 0)) {
    TVMFFIObjectDecRef(object);
  } else {
    fb_drop_aside(object);
  }
}

/* Like fb_drop_object, for an owned value. */
FH_INLINE void fb_drop_any(const TVMFFIAny *value, int rc) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) fb_drop_object(value->v_obj, rc);
}

/* Calls the deleter of a DLPack tensor, if it has one. */
void fb_drop_managed(DLManagedTensor *tensor);
void fb_drop_versioned(DLManagedTensorVersioned *tensor);

/* Closes a handle. */
void fb_drop_handle(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_CONTEXT_DROP_H_ */
