/* Tuples of ints. */
#include "tuple.h"

#include <stdlib.h>

HPy fb_tuple_of_ints(HPyContext *ctx, const int64_t *values, int32_t n) {
  enum { STACK_ITEMS = 8 };
  /* Most shapes, strides and lists of ancestors have few items. */
  HPy stack[STACK_ITEMS], *items = n <= STACK_ITEMS ? stack : malloc((size_t)n * sizeof(*items)), tuple = HPy_NULL;
  if (items == NULL) return HPyErr_NoMemory(ctx);
  int32_t n_made = 0;
  for (; n_made < n; n_made++) {
    items[n_made] = HPyLong_FromInt64_t(ctx, values[n_made]);
    if (HPy_IsNull(items[n_made])) break;
  }
  if (n_made == n) tuple = HPyTuple_FromArray(ctx, items, n); /* PyPy leaks an HPyTupleBuilder */
  for (int32_t i = 0; i < n_made; i++) HPy_Close(ctx, items[i]);
  if (items != stack) free(items);
  return tuple;
}
