/* opaque.c - objects that represent an object of a client, for example a Python object. The core never dereferences
 * `handle`. */
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
  opaque_object *opaque = (opaque_object *)fh_object_new(sizeof *opaque, type_index, opaque_delete);
  if (opaque == NULL) return -1;
  opaque->cell.handle = handle;
  opaque->deleter = deleter;
  *out = opaque;
  return 0;
}
