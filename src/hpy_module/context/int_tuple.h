/* Tuples of ints: shapes, strides, ancestors. */
#ifndef FFI_HPY_CONTEXT_INT_TUPLE_H_
#define FFI_HPY_CONTEXT_INT_TUPLE_H_

#include "context.h"

/* A new tuple of n ints: new handle, or HPy_NULL with an exception raised. */
HPy fb_int_tuple_new(HPyContext *ctx, const int64_t *values, int32_t n);

#endif /* FFI_HPY_CONTEXT_INT_TUPLE_H_ */
