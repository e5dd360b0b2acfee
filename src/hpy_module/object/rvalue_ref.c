/* The class ObjectRValueRef, the result of CObject._move(). As an argument it lets the callee consume the object's
 * handle, and leaves the wrapper without a handle. A field keeps the wrapper alive. */
#include "rvalue_ref.h"

#include "hpy_module/context/call.h"
#include "hpy_module/context/instance.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "identity.h"
#include "object.h"
#include "own_class.h"
#include "preserve.h"
#include "transfer.h"

typedef struct RValueRef {
  HPyField object; /* a CObject */
} RValueRef;

HPyType_HELPERS(RValueRef)

static FbRef rvalue_ref_type; /* written once during the import */

/* The field may close a cycle: a wrapper of a class made in Python has attributes, which may refer to this object. */
HPyDef_SLOT(rvalue_traverse, HPy_tp_traverse)
static int rvalue_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((RValueRef *)self)->object);
  return 0;
}

/* A Function is refused: calls do not count a use of their callee, so a move could not detect that the Function
 * runs. */
static HPy make(HPyContext *ctx, HPy type, HPy object) {
  if (!fb_object_check(ctx, object)) {
    char name[128];
    return fb_raise(ctx, ctx->h_TypeError, "ObjectRValueRef() expected a CObject, got %s",
                    fb_attr_type_name(ctx, object, name, sizeof(name)));
  }
  if (fb_own_class_check(ctx, object, &fb_own_class_function)) return fb_transfer_refuse_function(ctx);
  void *ref;
  HPy h = fb_instance_make(ctx, type, &rvalue_ref_type, &ref);
  if (!HPy_IsNull(h)) HPyField_Store(ctx, h, &((RValueRef *)ref)->object, object);
  return h;
}

HPyDef_SLOT(rvalue_new, HPy_tp_new)
static HPy rvalue_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  static const char *const names[] = {"obj"};
  static const FbKeywords keywords = {"ObjectRValueRef", names, 1, NULL};
  HPy object;
  if (fb_keywords_bind_dict(ctx, &keywords, 1, args, nargs, kw, &object) != 0) return HPy_NULL;
  HPy h = make(ctx, type, object);
  HPy_Close(ctx, object);
  return h;
}

HPy fb_rvalue_ref_new(HPyContext *ctx, HPy object) {
  HPy type = fb_ref_load(ctx, &rvalue_ref_type);
  HPy ref = make(ctx, type, object);
  HPy_Close(ctx, type);
  return ref;
}

HPy fb_rvalue_ref_load(HPyContext *ctx, HPy ref) {
  const RValueRef *data = RValueRef_AsStruct(ctx, ref);
  if (data != NULL && !HPyField_IsNull(data->object)) return HPyField_Load(ctx, ref, data->object);
  fb_instance_raise_unmade(ctx, ref);
  return HPy_NULL;
}

FbRValueOffer fb_rvalue_ref_begin(HPyContext *ctx, HPy object, FbHandleCell **out, FbPreserved **offer) {
  FbHandleCell *cell = *out = fb_object_cell(ctx, object);
  if (cell == NULL) {
    fb_object_raise_no_handle(ctx, object);
    return FB_RVALUE_FAILED;
  }
  if (fb_handle_cell_is_repeated(cell)) return FB_RVALUE_STAYS;
  if (!fb_handle_cell_claim(cell, FB_HANDLE_OFFERED)) {
    if (fb_handle_cell_is_repeated(cell)) return FB_RVALUE_STAYS; /* another thread has just received the wrapper */
    fb_object_raise_in_use(ctx);
    return FB_RVALUE_FAILED;
  }
  if (cell->handle == NULL) {
    fb_handle_cell_release(cell);
    fb_object_raise_no_handle(ctx, object);
    return FB_RVALUE_FAILED;
  }
  /* the callee may consume the handle; if it returns the object, an object without state gets another wrapper */
  *offer = fb_preserve_offer(ctx, object, cell);
  if (*offer == NULL) fb_identity_unlist(cell);
  return FB_RVALUE_OFFERED;
}

HPy fb_rvalue_ref_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&rvalue_new, &rvalue_traverse, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.ObjectRValueRef",
      .basicsize = sizeof(RValueRef),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_HAVE_GC,
      .builtin_shape = SHAPE(RValueRef),
      .defines = defines,
      .doc = "An object marked by _move(): passing it to a call lets the callee take the handle.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_ref_store(ctx, &rvalue_ref_type, type);
  return type;
}
