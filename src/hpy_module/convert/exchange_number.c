/* Numbers of exchange tables. */
#include "exchange_number.h"

#include <stdatomic.h>

_Atomic(const DLPackExchangeAPI *) fb_exchange_number_tables[UINT8_MAX + 1];

static uint8_t number_of(const DLPackExchangeAPI *exchange) {
  for (int number = 1; number <= UINT8_MAX; number++) {
    const DLPackExchangeAPI *there = NULL;
    if (atomic_compare_exchange_strong_explicit(&fb_exchange_number_tables[number], &there, exchange,
                                                memory_order_relaxed, memory_order_relaxed) ||
        there == exchange)
      return (uint8_t)number;
  }
  return 0;
}

void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange) {
  atomic_store_explicit(&cell->table, number_of(exchange), memory_order_relaxed);
}
