/* Native objects as Python objects. */
#ifndef FFI_HPY_OBJECT_WRAP_H_
#define FFI_HPY_OBJECT_WRAP_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* The listed wrapper of an object, or a new instance of the class that stands for its type. Takes `handle`, on failure
 * too (HPy_NULL). */
HPy fb_wrap_object(HPyContext *ctx, TVMFFIObject *handle);
/* As fb_wrap_object, but a new instance in any case. */
HPy fb_wrap_apart(HPyContext *ctx, TVMFFIObject *handle);
/* As fb_wrap_object, but a new instance if a call uses the listed one, which nobody can move away then. */
HPy fb_wrap_movable(HPyContext *ctx, TVMFFIObject *handle);
/* The listed wrapper of an object of a registered type that somebody else keeps alive, without a reference of the
 * caller's, whose count threads that share the object would write in turns: new handle. HPy_NULL, and nothing raised,
 * if there is none, or if taking a reference costs nothing: then fb_wrap_object. */
HPy fb_wrap_find(HPyContext *ctx, TVMFFIObject *handle);

#endif /* FFI_HPY_OBJECT_WRAP_H_ */
