/* The fields of types that Python code defined: a lock-free hash table of lists by type index. Type indices are
 * assigned in sequence, so the remainder distributes them evenly. */
#include "field_table.h"

#include <stddef.h>

#include "core/platform/atomic.h"

enum { N_BUCKETS = 1024 };
static FbFieldTable *buckets[N_BUCKETS]; /* lists that only grow, at their heads */

const struct FbField *fb_field_table_find(int32_t type_index, int32_t which) {
  /* Acquire: pairs with fb_field_table_publish. */
  const FbFieldTable *table = fh_atomic_load_acquire(&buckets[(uint32_t)type_index % N_BUCKETS]);
  while (table != NULL && table->type_index != type_index) table = table->next;
  return table != NULL && which < table->n_fields ? table->fields[which] : NULL;
}

void fb_field_table_publish(FbFieldTable *table) {
  FbFieldTable **bucket = &buckets[(uint32_t)table->type_index % N_BUCKETS];
  table->next = fh_atomic_load_relaxed(bucket);
  /* Release: pairs with fb_field_table_find. A failed exchange has loaded the new head into table->next. */
  while (!fh_atomic_cas_release(bucket, &table->next, table)) {
  }
}
