/* The core's ffi.Shape becomes the package's Shape, a tuple of ints that also has the native object, so that passing it
 * to native code again needs no new object. */
#include "shape.h"

#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/tuple.h"
#include "hpy_module/convert/result.h"

/* Makes Shape(tuple, native object). Steals the object, also on failure, like every FbResult. */
static HPy shape_result(HPyContext *ctx, const TVMFFIAny *value) {
  const TVMFFIShapeCell *shape = (const TVMFFIShapeCell *)(value->v_obj + 1);
  HPy parts[2] = {fb_tuple_of_ints(ctx, shape->data, (int32_t)shape->size), HPy_NULL};
  if (HPy_IsNull(parts[0])) {
    fb_drop_object(value->v_obj, -1);
    return HPy_NULL;
  }
  parts[1] = fb_wrap_object(ctx, value->v_obj);
  HPy result = HPy_IsNull(parts[1]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_SHAPE_CLASS, parts, 2);
  if (!HPy_IsNull(parts[1])) HPy_Close(ctx, parts[1]);
  HPy_Close(ctx, parts[0]);
  return result;
}

void fb_shape_init(void) { fb_result_set(kTVMFFIShape, shape_result); }
