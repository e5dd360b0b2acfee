/* Attribute columns of types. */
#include "type_attr.h"

#include <stdatomic.h>
#include <stddef.h>

const TVMFFIAny *fb_type_attr_in(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  /* Before the data, as c_api.h asks; acquire: pairs with the core's publication of a longer column. */
  int32_t size = atomic_load_explicit((const _Atomic(int32_t) *)&column->size, memory_order_acquire);
  int64_t row = (int64_t)type_index - column->begin_index;
  if (row < 0 || row >= size || column->data[row].type_index == kTVMFFINone) return NULL;
  return &column->data[row];
}

const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(name);
  return column == NULL ? NULL : fb_type_attr_in(column, type_index);
}
