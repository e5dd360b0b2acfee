/* The class OpaquePtr: a pointer by value, which converters of the package make for arguments. A result does not become
 * an OpaquePtr; a hook makes a ctypes.c_void_p of the number. */
#include "opaque_ptr.h"

#include "hpy_module/context/hook.h"
#include "hpy_module/context/instance.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "plain.h"

typedef struct FbOpaquePtr {
  void *address;
} FbOpaquePtr;

HPyType_HELPERS(FbOpaquePtr)

static FbRef opaque_ptr_type; /* written once during the import */

HPy fb_opaque_ptr_result(HPyContext *ctx, void *address) {
  HPy number = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)address);
  if (HPy_IsNull(number)) return number;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_OPAQUE_PTR, &number, 1);
  HPy_Close(ctx, number);
  return result;
}

/* The FbResult and the FbConversion of pointers; they neither take nor make an object. */
static HPy opaque_ptr_result(HPyContext *ctx, const TVMFFIAny *value) {
  return fb_opaque_ptr_result(ctx, value->v_ptr);
}

static int opaque_ptr_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  /* Points to the `address` member of the struct; NULL without a struct. */
  void *const *address = fb_plain_expect(ctx, value, FbOpaquePtr_AsStruct(ctx, value));
  if (FH_UNLIKELY(address == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIOpaquePtr, .v_ptr = *address};
  return 0;
}

/* OpaquePtr(number). */
HPyDef_SLOT(opaque_ptr_new, HPy_tp_new)
static HPy opaque_ptr_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1) return fb_raise(ctx, ctx->h_TypeError, "OpaquePtr() takes one argument, got %zd", nargs);
  void *address = HPyLong_AsVoidPtr(ctx, args[0]);
  if (address == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  void *data;
  HPy h = fb_instance_make(ctx, type, &opaque_ptr_type, &data);
  if (!HPy_IsNull(h)) ((FbOpaquePtr *)data)->address = address;
  return h;
}

HPyDef_GET(opaque_ptr_value, "value", .doc = "The address.")
static HPy opaque_ptr_value_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  void *const *address = fb_plain_expect(ctx, self, FbOpaquePtr_AsStruct(ctx, self));
  return address == NULL ? HPy_NULL : HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)*address);
}

/* Also registers the conversions of pointer arguments and results. */
HPy fb_opaque_ptr_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&opaque_ptr_new, &opaque_ptr_value, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.OpaquePtr",
      .basicsize = sizeof(FbOpaquePtr),
      .flags = HPy_TPFLAGS_DEFAULT,
      .builtin_shape = SHAPE(FbOpaquePtr),
      .defines = defines,
      .doc = "An address passed as void*.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_ref_store(ctx, &opaque_ptr_type, type);
  fb_argument_set_conversion(FB_TYPE_KIND_OPAQUE_PTR, opaque_ptr_argument);
  fb_result_set(kTVMFFIOpaquePtr, opaque_ptr_result);
  return type;
}
