/* Capsules: how DLPack tensors travel between Python libraries. */
#ifndef FFI_HPY_CONTEXT_CAPSULE_H_
#define FFI_HPY_CONTEXT_CAPSULE_H_

#include <dlpack/dlpack.h>

#include "context.h"

/* Whether an object is a capsule of that name. */
bool fb_capsule_is_valid(HPyContext *ctx, HPy capsule, const char *name);
/* The pointer inside; NULL with an exception raised if the name is another. */
void *fb_capsule_get(HPyContext *ctx, HPy capsule, const char *name);
/* Returns 0, or -1 with an exception raised. The name must live for good. */
int fb_capsule_rename(HPyContext *ctx, HPy capsule, const char *name);

/* A capsule that owns the tensor until it is renamed. HPy_NULL with an exception raised: nothing was taken. */
HPy fb_capsule_new_dltensor(HPyContext *ctx, DLManagedTensor *tensor);
HPy fb_capsule_new_dltensor_versioned(HPyContext *ctx, DLManagedTensorVersioned *tensor);

/* A capsule of something that lives as long as the process. HPy_NULL with an exception raised. */
HPy fb_capsule_new_lasting(HPyContext *ctx, void *pointer, const char *name);

#endif /* FFI_HPY_CONTEXT_CAPSULE_H_ */
