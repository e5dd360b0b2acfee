/* object_new.c - the block of a new object. */
#include "object_new.h"

#include "core/platform/mem.h"
#include "error.h"

void *fh_object_new(size_t n_bytes, int32_t type_index, fh_object_deleter deleter) {
  TVMFFIObject *obj = (TVMFFIObject *)fh_mem_alloc(n_bytes);
  if (obj == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  memset(obj, 0, n_bytes); /* not fh_mem_calloc: C libraries keep small blocks at hand for malloc only */
  fh_object_init(obj, type_index, deleter);
  return obj;
}
