/* The fields of types that Python code defined. */
#include "field_table.h"

#include <stdatomic.h>
#include <stddef.h>

enum { N_BUCKETS = 1024 };
static _Atomic(FbFieldTable *) buckets[N_BUCKETS]; /* lists that only grow, at their heads */

const struct FbField *fb_field_table_find(int32_t type_index, int32_t which) {
  /* Acquire: pairs with fb_field_table_publish. */
  const FbFieldTable *table = atomic_load_explicit(&buckets[(uint32_t)type_index % N_BUCKETS], memory_order_acquire);
  while (table != NULL && table->type_index != type_index) table = table->next;
  return table != NULL && which < table->n_fields ? table->fields[which] : NULL;
}

void fb_field_table_publish(FbFieldTable *table) {
  _Atomic(FbFieldTable *) *bucket = &buckets[(uint32_t)table->type_index % N_BUCKETS];
  table->next = atomic_load_explicit(bucket, memory_order_relaxed);
  while (
      !atomic_compare_exchange_weak_explicit(bucket, &table->next, table, memory_order_release, memory_order_relaxed)) {
  }
}
