/* The class OpaquePyObject: a native object that owns a Python object, which native code can keep and pass on, but not
 * read. Values without another native form are passed as an OpaquePyObject, and return as the Python object inside. */
#include "opaque_type.h"

#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/opaque.h"
#include "hpy_module/object/transfer.h"

static FbRef opaque_type; /* written once during the import */

FB_OBJECT_NEW(opaque, opaque_type)

HPyDef_SLOT(opaque_init, HPy_tp_init)
static int opaque_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1) {
    fb_raise(ctx, ctx->h_TypeError, "OpaquePyObject() takes one argument, got %zd", nargs);
    return -1;
  }
  /* After a failure an exception is raised, or a native error is pending. */
  TVMFFIObject *made = fb_opaque_new(ctx, args[0]);
  if (made != NULL) return fb_transfer_put(ctx, self, made);
  if (!HPyErr_Occurred(ctx)) fb_error_raise_pending(ctx, "OpaquePyObject");
  return -1;
}

HPyDef_METH(opaque_pyobject, "pyobject", HPyFunc_NOARGS, .doc = "The Python object inside.")
static HPy opaque_pyobject_impl(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIOpaquePyObject, 1);
  if (cell == NULL) return HPy_NULL;
  /* Only the binding that made the object can read the Python object inside. */
  HPy inside = fb_opaque_unwrap(ctx, cell->handle);
  fb_handle_cell_unuse(cell);
  if (!HPy_IsNull(inside)) return inside;
  return fb_raise(ctx, ctx->h_TypeError, "this OpaquePyObject was made by another Python binding");
}

/* The last but one entry of `defines` is room for the slot that fb_object_type_derive may append. */
HPy fb_opaque_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&opaque_new, &opaque_init, &opaque_pyobject, NULL, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.OpaquePyObject",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "A Python object held by native code.",
  };
  return fb_object_type_derive(ctx, &spec, base, &opaque_type);
}
