/* Tuples: items without a reference, and tuples of ints (shapes, strides, ancestors). */
#ifndef FFI_HPY_CONTEXT_TUPLE_H_
#define FFI_HPY_CONTEXT_TUPLE_H_

#include "context.h"

/* The i'th item of a tuple, which keeps it; only where fb_context_tuple_items is not 0. */
FH_INLINE HPy fb_tuple_item(HPy tuple, HPy_ssize_t i) {
  HPy item;
  memcpy(&item, (const char *)tuple._i + fb_context_tuple_items + (size_t)i * sizeof(item), sizeof(item));
  return item;
}

/* A new tuple of n ints: new handle, or HPy_NULL with an exception raised. */
HPy fb_tuple_of_ints(HPyContext *ctx, const int64_t *values, int32_t n);

#endif /* FFI_HPY_CONTEXT_TUPLE_H_ */
