/* The end of values while an exception may be raised.
 *
 * The last reference to an object runs its destructor, which may be foreign code that calls Python: a DLPack deleter
 * written with ctypes, say. Such code must neither see the raised exception nor replace it. These functions put the
 * exception aside; the plain ones (TVMFFIObjectDecRef, any.h) are for threads that are not attached, and for callers
 * that know that nothing is raised. */
#ifndef FFI_HPY_CONTEXT_DROP_H_
#define FFI_HPY_CONTEXT_DROP_H_

#include "any.h"

/* For `rc`: the caller does not know whether an exception is raised. */
enum { FB_DROP_UNKNOWN = -1 };

void fb_drop_aside(TVMFFIObjectHandle object);

/* Gives up a reference; NULL is accepted. `rc` is what the caller returns: nothing is raised if it is 0. */
FH_INLINE void fb_drop_object(TVMFFIObjectHandle object, int rc) {
  if (FH_LIKELY(rc == 0)) {
    TVMFFIObjectDecRef(object);
  } else {
    fb_drop_aside(object);
  }
}

/* As fb_drop_object, for an owned value. */
FH_INLINE void fb_drop_any(const TVMFFIAny *value, int rc) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) fb_drop_object(value->v_obj, rc);
}

/* Runs the deleter of a DLPack tensor, which may have none. */
void fb_drop_managed(DLManagedTensor *tensor);
void fb_drop_versioned(DLManagedTensorVersioned *tensor);

/* Closes a handle. */
void fb_drop_handle(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_CONTEXT_DROP_H_ */
