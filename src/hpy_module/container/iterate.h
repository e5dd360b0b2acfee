/* Iterators over the items of native containers.
 *
 * HPy 0.9 has no slots for iterators, and a call for each item is what would cost most. So items are read in lists, and
 * the interpreter's own iterators go through these: a small container in one, a larger one piece by piece, as
 * wanted. */
#ifndef FFI_HPY_CONTAINER_ITERATE_H_
#define FFI_HPY_CONTAINER_ITERATE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/convert/result.h"
#include "hpy_module/tensor/exchange.h"

typedef enum FbPart { FB_PART_KEYS, FB_PART_VALUES, FB_PART_ITEMS } FbPart;

/* Everywhere `exchange` is the table that the container was returned under (fb_exchange_number_find), or NULL. */

/* The Python value of an item, which is taken, on failure too (HPy_NULL, exception raised). */
FH_INLINE HPy fb_iterate_item(HPyContext *ctx, TVMFFIAny *item, const DLPackExchangeAPI *exchange) {
  if (FH_UNLIKELY(exchange != NULL)) return fb_exchange_result(ctx, item, exchange, false);
  return fb_result_make(ctx, item);
}

/* As fb_wrap_find, for an item of any kind that somebody else keeps alive. HPy_NULL, and nothing raised, also for what
 * has no wrapper, or becomes an array of the table's library. */
FH_INLINE HPy fb_iterate_find(HPyContext *ctx, const TVMFFIAny *item, const DLPackExchangeAPI *exchange) {
  if (FH_LIKELY(!fb_context_free_threaded) || exchange != NULL || item->type_index < kTVMFFIDynObjectBegin) {
    return HPy_NULL;
  }
  return fb_wrap_find(ctx, item->v_obj);
}

/* A Python list of n items, from items[first] on, `step` apart. The array that they are in is kept alive by the caller
 * and does not change. New handle, or HPy_NULL with an exception raised. */
HPy fb_iterate_list(HPyContext *ctx, const TVMFFIAny *items, int64_t first, int64_t step, int64_t n,
                    const DLPackExchangeAPI *exchange);

/* A Python iterator over an ffi.Array, which is taken, on failure too (HPy_NULL, exception raised). `step` is 1, or -1
 * for one from the end. Threads may share it. */
HPy fb_iterate_array(HPyContext *ctx, TVMFFIObject *array, int64_t step, const DLPackExchangeAPI *exchange);
/* A Python iterator over an ffi.Map, which is taken, on failure too. Items are tuples of key and value. */
HPy fb_iterate_map(HPyContext *ctx, TVMFFIObject *map, FbPart part, const DLPackExchangeAPI *exchange);

/* Returns 0, or -1 with an exception raised. */
int fb_iterate_init(HPyContext *ctx);

#endif /* FFI_HPY_CONTAINER_ITERATE_H_ */
