/* What stands in for reference_try (extension.h) on PyPy 7.3: a weak reference to each listed wrapper. */
#ifndef FFI_HPY_OBJECT_IDENTITY_WEAK_H_
#define FFI_HPY_OBJECT_IDENTITY_WEAK_H_

#include "handle_cell.h"

/* Returns 0, or -1 with an exception raised. */
int fb_identity_weak_init(HPyContext *ctx);

/* Makes the weak reference that belongs to the cell of `self`. Returns 0; -1, and no exception, if it has none. */
int fb_identity_weak_watch(HPyContext *ctx, HPy self, FbHandleCell *cell);
/* The wrapper: new handle, HPy_NULL if it is gone. Never raises. */
HPy fb_identity_weak_load(HPyContext *ctx, FbHandleCell *cell);
/* Forgets the weak reference of a cell that ends. Touches no Python object: it is called in the middle of a
 * collection. */
void fb_identity_weak_forget(FbHandleCell *cell);

#endif /* FFI_HPY_OBJECT_IDENTITY_WEAK_H_ */
