/* Numbers of exchange tables: the index of a table in a list that is searched from its beginning. A process has few
 * array libraries, so that the search is short. */
#include "exchange_number.h"

#include "core/platform/atomic.h"

const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* The number of a table, which it gets if it has none; 0 if all numbers are given. Slots are filled in order and never
 * emptied. A thread that loses the race for a slot sees whether the winner brought the same table. */
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
