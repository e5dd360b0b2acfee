/* Capsules, in which Python libraries exchange DLPack tensors. */
#ifndef FFI_HPY_CONTEXT_CAPSULE_H_
#define FFI_HPY_CONTEXT_CAPSULE_H_

#include <dlpack/dlpack.h>

#include "context.h"

/* Whether an object is a capsule with this name. */
bool fb_capsule_is_valid(HPyContext *ctx, HPy capsule, const char *name);
/* Returns the pointer in a capsule; NULL with an exception raised if the capsule has another name. */
void *fb_capsule_get(HPyContext *ctx, HPy capsule, const char *name);
/* Renames a capsule. The name must stay valid for the life of the process. Returns 0, or -1 with an exception
 * raised. */
int fb_capsule_rename(HPyContext *ctx, HPy capsule, const char *name);

/* Makes a capsule that owns the tensor until the capsule is renamed. On failure returns HPy_NULL with an exception
 * raised, and the caller keeps the tensor. */
HPy fb_capsule_new_dltensor(HPyContext *ctx, DLManagedTensor *tensor);
HPy fb_capsule_new_dltensor_versioned(HPyContext *ctx, DLManagedTensorVersioned *tensor);

/* Makes a capsule of a pointer that lives as long as the process. HPy_NULL with an exception raised on failure. */
HPy fb_capsule_new_lasting(HPyContext *ctx, void *pointer, const char *name);

#endif /* FFI_HPY_CONTEXT_CAPSULE_H_ */
