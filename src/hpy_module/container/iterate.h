/* Iterators over the items of native containers.
 *
 * HPy 0.9 has no iterator slots, and a call per item would be the main cost. Therefore items are read into lists, and
 * the interpreter's own iterators iterate over these: one list for a small container, a sequence of lists, read on
 * demand, for a larger one. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/convert/result.h"
#include "hpy_module/tensor/exchange.h"

typedef enum FbPart { FB_PART_KEYS, FB_PART_VALUES, FB_PART_ITEMS } FbPart;

/* In this file `exchange` is the table under which the container was returned (fb_exchange_number_find), or NULL. */

/* Converts an item and steals it, also on failure (HPy_NULL with an exception raised). */
FH_INLINE HPy fb_iterate_item(HPyContext *ctx, TVMFFIAny *item, const DLPackExchangeAPI *exchange) {
  if (FH_UNLIKELY(exchange != NULL)) return fb_exchange_result(ctx, item, exchange, false);
  return fb_result_make(ctx, item);
}

/* Like fb_wrap_find, for any item that other code keeps alive. Returns HPy_NULL without an exception also for an item
 * that has no wrapper, or that becomes an array of the table's library. */
FH_INLINE HPy fb_iterate_find(HPyContext *ctx, const TVMFFIAny *item, const DLPackExchangeAPI *exchange) {
  if (FH_LIKELY(!fb_context_free_threaded) || exchange != NULL || item->type_index < kTVMFFIDynObjectBegin) {
    return HPy_NULL;
  }
  return fb_wrap_find(ctx, item->v_obj);
}

/* Converts an item that other code owns. */
FH_INLINE HPy fb_iterate_copy(HPyContext *ctx, const TVMFFIAny *item, const DLPackExchangeAPI *exchange) {
  HPy found = fb_iterate_find(ctx, item, exchange);
  if (FH_UNLIKELY(!HPy_IsNull(found))) return found;
  TVMFFIAny value = *item;
  if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(value.v_obj);
  return fb_iterate_item(ctx, &value, exchange);
}

/* Makes a Python iterator over an ffi.Array. Steals `array`, also on failure (HPy_NULL with an exception raised).
 * Threads may share the iterator. */
HPy fb_iterate_array(HPyContext *ctx, TVMFFIObject *array, const DLPackExchangeAPI *exchange);
/* Makes a Python iterator over an ffi.Map. Steals `map`, also on failure. Items are tuples of key and value. */
HPy fb_iterate_map(HPyContext *ctx, TVMFFIObject *map, FbPart part, const DLPackExchangeAPI *exchange);

/* Returns 0, or -1 with an exception raised. */
int fb_iterate_init(HPyContext *ctx);
