/* sentinel.c - MISSING and KWARGS. A lookup returns MISSING for a missing key; KWARGS separates positional arguments
 * from keywords in a call of __ffi_init__. Both are plain objects: only their addresses count. */
#include "sentinel.h"

#include "core/platform/mem.h"
#include "object_new.h"

static TVMFFIObject *missing;
static TVMFFIObject *kwargs;

TVMFFIObject *fh_sentinel_missing(void) { return missing; }
TVMFFIObject *fh_sentinel_kwargs(void) { return kwargs; }

/* NULL without memory, with a MemoryError pending. */
static TVMFFIObject *new_sentinel(void) {
  TVMFFIObject *sentinel = (TVMFFIObject *)fh_object_new(sizeof *sentinel, kTVMFFIObject, fh_object_delete_plain);
  fh_mem_keep(sentinel); /* the static variable has its only reference */
  return sentinel;
}

void fh_sentinel_init(void) {
  missing = new_sentinel();
  kwargs = new_sentinel();
}
