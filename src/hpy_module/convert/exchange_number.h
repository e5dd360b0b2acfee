/* Numbers for the exchange API tables under which containers were returned. A number fits into a handle cell.
 *
 * A table is constant and lives as long as the process. Each number belongs to one table for good. */
#ifndef FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_
#define FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_

#include <dlpack/dlpack.h>

#include "core/platform/atomic.h"
#include "hpy_module/object/handle_cell.h"

/* Numbers begin at 1. Relaxed loads are enough, because a table is constant. */
extern const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* Returns the exchange table under which a container was returned, or NULL. */
FH_INLINE const DLPackExchangeAPI *fb_exchange_number_find(const FbHandleCell *cell) {
  uint8_t number = fh_atomic_load_relaxed(&cell->table);
  if (FH_LIKELY(number == 0)) return NULL;
  return fh_atomic_load_relaxed(&fb_exchange_number_tables[number]);
}

/* Records that a container was returned under `exchange`. Does nothing once all numbers are in use. */
void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange);

#endif /* FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_ */
