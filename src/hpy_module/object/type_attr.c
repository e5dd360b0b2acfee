/* Attribute columns of types. */
#include "type_attr.h"

#include <stddef.h>

#include "core/platform/atomic.h"

const TVMFFIAny *fb_type_attr_in(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  /* Loaded before the data, as c_api.h requires. Acquire: pairs with the core's publication of a longer column. */
  int32_t size = fh_atomic_load_acquire(&column->size);
  int64_t row = (int64_t)type_index - column->begin_index;
  if (row < 0 || row >= size) return NULL;
  /* Both acquire: the cells of a growing column are copied before its data is published, and the value of a cell is
   * stored before its type. */
  const TVMFFIAny *cell = fh_atomic_load_acquire(&column->data) + row;
  return fh_atomic_load_acquire(&cell->type_index) == kTVMFFINone ? NULL : cell;
}

const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(name);
  return column == NULL ? NULL : fb_type_attr_in(column, type_index);
}
