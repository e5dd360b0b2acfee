/* The streams that native code uses, per thread and device. */
#ifndef FFI_HPY_TENSOR_STREAM_H_
#define FFI_HPY_TENSOR_STREAM_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_stream_get, fb_stream_set;

#endif /* FFI_HPY_TENSOR_STREAM_H_ */
