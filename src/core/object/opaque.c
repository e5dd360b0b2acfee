/* opaque.c - objects that represent an object of a client, for example a Python object. The core never dereferences
 * `handle`. */
#include "opaque.h"

#include "core/platform/mem.h"
#include "error.h"
#include "object_new.h"

typedef struct {
  TVMFFIObject header;
  TVMFFIOpaqueObjectCell cell;
  void (*deleter)(void *handle);
} opaque_object;

/* With Strong the client gets its handle back; with Weak the block is freed. */
static void opaque_delete(void *self, int flags) {
  opaque_object *opaque = (opaque_object *)self;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) && opaque->deleter != NULL) opaque->deleter(opaque->cell.handle);
  fh_object_delete_plain(self, flags);
}

int TVMFFIObjectCreateOpaque(void *handle, int32_t type_index, void (*deleter)(void *handle), TVMFFIObjectHandle *out) {
  *out = NULL;
  if (type_index != kTVMFFIOpaquePyObject) { /* the only opaque type of this version of the ABI */
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected type index %d (kTVMFFIOpaquePyObject) but got %d",
                          (int)kTVMFFIOpaquePyObject, (int)type_index);
  }
  opaque_object *opaque = (opaque_object *)fh_object_new(sizeof(*opaque), type_index, opaque_delete);
  if (opaque == NULL) return -1;
  opaque->cell.handle = handle;
  opaque->deleter = deleter;
  *out = opaque;
  return 0;
}

/* --- MISSING and KWARGS ------------------------------------------------------------------------------------------ */

/* MISSING and KWARGS. A lookup returns MISSING for a missing key; KWARGS separates positional arguments
 * from keywords in a call of __ffi_init__. Both are plain objects: only their addresses count. */

static TVMFFIObject *missing;
static TVMFFIObject *kwargs;

TVMFFIObject *fh_sentinel_missing(void) { return missing; }
TVMFFIObject *fh_sentinel_kwargs(void) { return kwargs; }

/* NULL without memory, with a MemoryError pending. */
static TVMFFIObject *new_sentinel(void) {
  TVMFFIObject *sentinel = (TVMFFIObject *)fh_object_new(sizeof(*sentinel), kTVMFFIObject, fh_object_delete_plain);
  fh_mem_keep(sentinel); /* the static variable has its only reference */
  return sentinel;
}

void fh_sentinel_init(void) {
  missing = new_sentinel();
  kwargs = new_sentinel();
}
