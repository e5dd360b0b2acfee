/* A table's number is its index in a list. Lookup searches the list from its beginning; a process has few array
 * libraries, so the search is short. */
#include "exchange_number.h"

#include "core/platform/atomic.h"

const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* Returns the number of a table, and assigns one if the table has none. Returns 0 if all numbers are in use. Slots are
 * filled in order and never emptied. A thread that loses the race for a slot checks whether the winner stored the same
 * table. */
static uint8_t number_of(const DLPackExchangeAPI *exchange) {
  for (int number = 1; number <= UINT8_MAX; ++number) {
    const DLPackExchangeAPI *there = NULL;
    if (fh_atomic_cas_relaxed(&fb_exchange_number_tables[number], &there, exchange) || there == exchange)
      return (uint8_t)number;
  }
  return 0;
}

void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange) {
  fh_atomic_store_relaxed(&cell->table, number_of(exchange));
}
