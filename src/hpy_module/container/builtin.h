/* Containers of bound libraries as values of Python's own classes. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"

extern HPyDef fb_builtin_enable, fb_builtin_items;

/* The least type index of the containers; INT32_MAX until the first bound library is imported. */
extern FB_HIDDEN int32_t fb_builtin_first_type;

/* Whether an object of a type may be a container. Types of other libraries may have indices between the indices of the
 * containers. */
FH_INLINE bool fb_builtin_may_unwrap(int32_t type_index) {
  int32_t first = fh_atomic_load_acquire(&fb_builtin_first_type); /* pairs with fb_builtin_enable */
  return type_index >= first && type_index - first < 2 * kFfiHpyNumContainers;
}

/* Whether the class of a value is list or tuple itself. Requires the extension. */
bool fb_builtin_is_list_or_tuple(HPyContext *ctx, HPy value);

/* Makes results of bound libraries, and reads values. Requires the extension. function/operation.c sets `operate`, once
 * during the import. */
extern FB_HIDDEN ffi_hpy_python_values fb_builtin_values;

/* If the object is such a container, makes *out the value, HPy_NULL with an exception raised, steals the object and
 * returns true. This function is also the fb_wrap_other. */
bool fb_builtin_unwrap(HPyContext *ctx, TVMFFIObject *handle, HPy *out);
