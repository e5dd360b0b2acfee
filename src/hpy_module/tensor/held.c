/* Tensors of arrays that native code holds as Python objects: a C function for bound libraries (ffi_hpy/ndarray.h). */
#include "held.h"

#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/opaque.h"
#include "ndarray.h"

/* A TVMFFISafeCallType. Arguments: an OpaquePyObject, and whether the tensor is only read. The result is the Tensor of
 * a NumPy array; None for other values, which the package converts. */
static int read_held(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  if (n != 2 || args[0].type_index != kTVMFFIOpaquePyObject || fb_ext == NULL) return 0;
  FbThread attach;
  TVMFFIObject *made = NULL;
  if (fb_thread_attach(&attach) != 0) return 0;
  HPy value = fb_opaque_unwrap(attach.ctx, args[0].v_obj);
  if (!HPy_IsNull(value)) {
    bool is_read = fb_ndarray_check(value) && fb_ndarray_tensor(attach.ctx, value, args[1].v_int64 != 0, &made) == 0;
    if (!is_read && HPyErr_Occurred(attach.ctx)) HPyErr_Clear(attach.ctx);
    HPy_Close(attach.ctx, value);
  }
  fb_thread_detach(&attach);
  if (made != NULL) *result = (TVMFFIAny){.type_index = kTVMFFITensor, .v_obj = made};
  return 0;
}

HPyDef_METH(fb_held_reader, "array_reader", HPyFunc_NOARGS,
            .doc = "The pointer to the C function, of type TVMFFISafeCallType, that reads NumPy arrays.")
static HPy fb_held_reader_impl(HPyContext *ctx, HPy self) {
  (void)self;
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)read_held);
}
