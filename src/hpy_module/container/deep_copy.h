/* Deep copies, as methods of wrappers. */
#pragma once

#include "hpy_module/context/context.h"

/* `_deep_copy` and `_swap_memo` of CObject, and `__deepcopy__` of containers. */
extern HPyDef fb_deep_copy_object, fb_deep_copy_swap_memo, fb_deep_copy_container;

/* Prepares the methods. Returns 0, or -1 with an exception raised. */
int fb_deep_copy_init(HPyContext *ctx);
