/* Initializer: makes the native object of a new instance and gives its fields values. */
#ifndef FFI_HPY_MODULE_INITIALIZER_H_
#define FFI_HPY_MODULE_INITIALIZER_H_

#include "context.h"

HPy fb_initializer_type_new(HPyContext *ctx);

#endif /* FFI_HPY_MODULE_INITIALIZER_H_ */
