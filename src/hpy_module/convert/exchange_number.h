/* The exchange tables that containers were returned under, by numbers that fit into a handle cell.
 *
 * A table lives as long as the process and does not change; a number is given once. */
#ifndef FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_
#define FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_

#include <dlpack/dlpack.h>

#include "core/platform/atomic.h"
#include "hpy_module/object/handle_cell.h"

/* Numbers begin at 1. Nothing is ordered by these words, because a table is constant. */
extern const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* The table that a container was returned under; NULL: none. */
FH_INLINE const DLPackExchangeAPI *fb_exchange_number_find(const FbHandleCell *cell) {
  uint8_t number = fh_atomic_load_relaxed(&cell->table);
  if (FH_LIKELY(number == 0)) return NULL;
  return fh_atomic_load_relaxed(&fb_exchange_number_tables[number]);
}

/* Notes that a container was returned under a table. Once there are too many tables, nothing is noted. */
void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange);

#endif /* FFI_HPY_CONVERT_EXCHANGE_NUMBER_H_ */
