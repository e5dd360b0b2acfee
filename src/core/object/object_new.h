/* object_new.h - the block of a new object. */
#ifndef FH_OBJECT_NEW_H_
#define FH_OBJECT_NEW_H_

#include "object.h"

/* Allocates n_bytes (header included; all zero) by fh_mem_alloc and writes the header. The deleter frees it with
 * fh_mem_free on Weak. NULL with a MemoryError pending. */
void *fh_object_new(size_t n_bytes, int32_t type_index, fh_object_deleter deleter);

#endif /* FH_OBJECT_NEW_H_ */
