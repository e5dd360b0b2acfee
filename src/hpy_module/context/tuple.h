/* Tuples: borrowed items, and tuples of ints (shapes, strides, ancestors). */
#ifndef FFI_HPY_CONTEXT_TUPLE_H_
#define FFI_HPY_CONTEXT_TUPLE_H_

#include "context.h"

/* Returns the i'th item of a tuple, borrowed from the tuple. Requires fb_context_tuple_items != 0. */
FH_INLINE HPy fb_tuple_item(HPy tuple, HPy_ssize_t i) {
  HPy item;
  memcpy(&item, (const char *)tuple._i + fb_context_tuple_items + (size_t)i * sizeof(item), sizeof(item));
  return item;
}

/* Makes a tuple of n ints. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_tuple_of_ints(HPyContext *ctx, const int64_t *values, int32_t n);

#endif /* FFI_HPY_CONTEXT_TUPLE_H_ */
