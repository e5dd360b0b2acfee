/* Owned values on their way into a container. */
#include "values.h"

#include <stdlib.h>

#include "hpy_module/context/any.h"

int fb_values_begin(FbValues *values, int64_t n) {
  values->n = 0;
  values->data = n > INT32_MAX ? NULL : malloc((size_t)(n > 0 ? n : 1) * sizeof(values->data[0]));
  return values->data == NULL ? -1 : 0;
}

void fb_values_end(FbValues *values) {
  for (int32_t i = 0; i < values->n; i++) {
    const TVMFFIAny *value = &values->data[i];
    fb_any_drop(value);
  }
  free(values->data);
}
