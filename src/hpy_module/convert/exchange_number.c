/* Numbers of exchange tables. */
#include "exchange_number.h"

#include "core/platform/atomic.h"

const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

static uint8_t number_of(const DLPackExchangeAPI *exchange) {
  for (int number = 1; number <= UINT8_MAX; number++) {
    const DLPackExchangeAPI *there = NULL;
    if (fh_atomic_cas_relaxed(&fb_exchange_number_tables[number], &there, exchange) || there == exchange)
      return (uint8_t)number;
  }
  return 0;
}

void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange) {
  fh_atomic_store_relaxed(&cell->table, number_of(exchange));
}
