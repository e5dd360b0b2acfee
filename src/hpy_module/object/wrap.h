/* Native objects as Python objects. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "hpy_module/context/context.h"

/* NULL, or a function for objects that become Python values without a wrapper, although their type has no class and is
 * not built in. Returns false for any other object; otherwise steals the handle, and *out is a new handle, or HPy_NULL
 * with an exception raised. */
extern bool (*fb_wrap_other)(HPyContext *ctx, TVMFFIObject *handle, HPy *out);
/* NULL until a bound library is imported; then ffi_hpy_bind_api.instance_of. Set before fb_wrap_other. */
extern ffi_hpy_instance *(*fb_wrap_instance_of)(const TVMFFIAny *value);

/* Returns the registered wrapper of an object, or a new instance of the class of its type. Steals `handle`, also on
 * failure (HPy_NULL). */
HPy fb_wrap_object(HPyContext *ctx, TVMFFIObject *handle);
/* Like fb_wrap_object, but always makes a new instance. */
HPy fb_wrap_apart(HPyContext *ctx, TVMFFIObject *handle);
/* Like fb_wrap_object, but makes a new instance if a call uses the registered wrapper, because the handle of that
 * wrapper cannot be moved. A wrapper with state (preserve.h), or of a bound object, is returned in any case. */
HPy fb_wrap_movable(HPyContext *ctx, TVMFFIObject *handle);
/* Returns a new handle of the wrapper that fb_wrap_movable would return, and does not steal the object. HPy_NULL
 * without an exception if fb_wrap_movable may have to make a wrapper. */
HPy fb_wrap_known(HPyContext *ctx, TVMFFIObject *handle);
/* Returns a new instance of cls for an object that a constructor has made, registered unless another wrapper is. `cls`
 * is the class of a type; the object need not be of that type. Steals the handle, like fb_wrap_object. */
HPy fb_wrap_made(HPyContext *ctx, HPy cls, TVMFFIObject *handle);
/* Returns the registered wrapper of an object that other code keeps alive, as a new handle. The object's type is
 * registered. Takes no native reference, because threads that share the object would contend for its count. Returns
 * HPy_NULL without an exception if the object has no wrapper, or if a reference is cheap; then use fb_wrap_object. */
HPy fb_wrap_find(HPyContext *ctx, TVMFFIObject *handle);
