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
  /* not fh_mem_calloc: calloc of older versions of glibc does not use the cache of free blocks that each thread has */
  memset(obj, 0, n_bytes);
  fh_object_init(obj, type_index, deleter);
  return obj;
}
