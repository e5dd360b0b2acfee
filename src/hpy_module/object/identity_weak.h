/* Weak references to registered wrappers, the substitute for reference_try (extension.h) on PyPy 7.3. */
#pragma once

#include "handle_cell.h"

/* Returns 0, or -1 with an exception raised. */
int fb_identity_weak_init(HPyContext *ctx);

/* Makes the weak reference for the cell of `self`. Returns 0, or -1 without an exception if that fails. */
int fb_identity_weak_watch(HPyContext *ctx, HPy self, FbHandleCell *cell);
/* Returns the wrapper as a new handle, or HPy_NULL if the wrapper was freed. Never raises. */
HPy fb_identity_weak_load(HPyContext *ctx, FbHandleCell *cell);
/* Releases the weak reference of a cell that is being destroyed. Touches no Python object, because it is called during
 * a collection. */
void fb_identity_weak_forget(FbHandleCell *cell);
