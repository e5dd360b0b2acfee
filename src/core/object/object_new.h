/* object_new.h - the block of a new object. */
#pragma once

#include "core/platform/mem.h"
#include "error.h"
#include "object.h"

/* Allocates n_bytes (header included; all zero) by fh_mem_alloc and writes the header. The deleter frees it with
 * fh_mem_free on Weak. NULL with a MemoryError pending. Inline, because most callers know n_bytes when they are
 * compiled, and a few stores cost less than a call of memset. */
static inline void *fh_object_new(size_t n_bytes, int32_t type_index, fh_object_deleter deleter) {
  TVMFFIObject *obj = (TVMFFIObject *)fh_mem_alloc(n_bytes);
  if (FH_UNLIKELY(obj == NULL)) {
    fh_error_raise_no_memory();
    return NULL;
  }
  memset(obj, 0, n_bytes); /* not fh_mem_calloc, which zeroes by a call */
  fh_object_init(obj, type_index, deleter);
  return obj;
}
