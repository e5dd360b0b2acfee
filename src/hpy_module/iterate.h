/* Iterators over the items of native containers.
 *
 * HPy 0.9 has no slots for iterators, and a call for each item is what would cost most. So items are read in lists, and
 * the interpreter's own iterators go through these: a small container in one, a larger one piece by piece, as wanted.
 *
 * `exchange` is the table that the container was returned under, NULL if none: then tensors in it become arrays. */
#ifndef FFI_HPY_MODULE_ITERATE_H_
#define FFI_HPY_MODULE_ITERATE_H_

#include <tvm/ffi/c_api.h>

#include "context.h"

typedef enum FbPart { FB_PART_KEYS, FB_PART_VALUES, FB_PART_ITEMS } FbPart;

/* A Python list of n items, from items[first] on, `step` apart. The array that they are in is kept alive by the caller and
 * does not change. New handle, or HPy_NULL with an exception raised. */
HPy fb_iterate_list(HPyContext *ctx, const TVMFFIAny *items, int64_t first, int64_t step, int64_t n,
                    const DLPackExchangeAPI *exchange);

/* A Python iterator over an ffi.Array, which is taken, on failure too (HPy_NULL, exception raised). */
HPy fb_iterate_array(HPyContext *ctx, TVMFFIObject *array, const DLPackExchangeAPI *exchange);
/* The same over an ffi.Map of that size; the function that walks it (ffi.MapForwardIterFunctor) is taken. Items are
 * tuples of key and value. */
HPy fb_iterate_map(HPyContext *ctx, TVMFFIObject *walk, int64_t size, FbPart part,
                   const DLPackExchangeAPI *exchange);

/* Returns 0, or -1 with an exception raised. */
int fb_iterate_init(HPyContext *ctx);

#endif /* FFI_HPY_MODULE_ITERATE_H_ */
