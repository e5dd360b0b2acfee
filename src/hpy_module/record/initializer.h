/* Initializer: makes the native object of a new instance and gives its fields values. */
#ifndef FFI_HPY_RECORD_INITIALIZER_H_
#define FFI_HPY_RECORD_INITIALIZER_H_

#include "hpy_module/context/context.h"

HPy fb_initializer_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_INITIALIZER_H_ */
