/* Conversion of Python objects to an ffi.OpaquePyObject: a native object that owns the Python object. Native code can
 * keep and pass it, but not read it; the binding that made it returns the Python object inside. */
#include "opaque_value.h"

#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/opaque.h"

TVMFFIObject *fb_opaque_value_new(HPyContext *ctx, HPy value) {
  TVMFFIObject *made = fb_opaque_new(ctx, value);
  if (made == NULL && !HPyErr_Occurred(ctx)) fb_error_raise_pending(ctx, "OpaquePyObject");
  return made;
}

int fb_opaque_value_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *object = fb_opaque_value_new(ctx, value);
  if (object == NULL) return -1;
  TVMFFIAny made = {.type_index = kTVMFFIOpaquePyObject, .v_obj = object};
  return fb_args_view_any(args, &made, out);
}

void fb_opaque_value_init(void) { fb_argument_set_conversion(FB_TYPE_KIND_OPAQUE, fb_opaque_value_argument); }

HPyDef_METH(fb_opaque_value_hold, "opaque_new", HPyFunc_O,
            .doc = "The pointer to a new native object that owns a Python object. The caller owns the reference.")
static HPy fb_opaque_value_hold_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  TVMFFIObject *made = fb_opaque_value_new(ctx, arg);
  return made == NULL ? HPy_NULL : HPyLong_FromInt64_t(ctx, (int64_t)(intptr_t)made);
}
