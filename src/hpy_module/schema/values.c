/* An array of owned values with a fixed capacity. The count grows value by value, so that after a failure exactly the
 * existing values are released. */
#include "values.h"

#include <stdlib.h>

#include "hpy_module/context/drop.h"

int fb_values_begin(FbValues *values, int64_t n) {
  values->n = 0;
  /* A constructor of the core takes at most INT32_MAX arguments. malloc(0) may return NULL, so an empty array has room
   * for one. */
  values->data = n > INT32_MAX ? NULL : malloc((size_t)(n > 0 ? n : 1) * sizeof(values->data[0]));
  return values->data == NULL ? -1 : 0;
}

void fb_values_end(FbValues *values) {
  for (int32_t i = 0; i < values->n; i++) fb_any_drop(&values->data[i]);
  free(values->data);
}

void fb_values_abandon(FbValues *values) {
  for (int32_t i = 0; i < values->n; i++) fb_drop_any(&values->data[i], FB_DROP_UNKNOWN);
  free(values->data);
}
