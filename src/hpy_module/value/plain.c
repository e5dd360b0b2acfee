/* The class PlainValue: a native value of one word, copied when it is passed, so nothing is shared with native code and
 * nothing is released. The package derives the classes of data types, devices and pointers from it; the kind of a class
 * decides the form of the word:
 *
 * - data type: the type code, from bit 8 on the bits, from bit 16 on the lanes
 * - device: the device type, from bit 32 on the index
 * - pointer: the address
 */
#include "plain.h"

#include "core/platform/atomic.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/instance.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/ref.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"

typedef struct FbPlain {
  int64_t word;
} FbPlain;

HPyType_HELPERS(FbPlain)

static FbRef plain_type; /* written once during the import */

/* Returns the struct of an instance. NULL with TypeError raised if the instance has no struct. The caller has checked
 * the type. */
FH_INLINE FbPlain *get(HPyContext *ctx, HPy h) {
  FbPlain *data = FbPlain_AsStruct(ctx, h);
  if (FH_UNLIKELY(data == NULL)) fb_instance_raise_unmade(ctx, h);
  return data;
}

/* Relaxed: a constructor may run again while another thread reads the word. */
FH_INLINE int64_t word_of(const FbPlain *data) { return fh_atomic_load_relaxed(&data->word); }

/* --- conversions -------------------------------------------------------------------------------------------------- */

/* FbConversions that need no temporary. */
static int data_type_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  const FbPlain *data = get(ctx, value);
  if (FH_UNLIKELY(data == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDataType};
  int64_t word = word_of(data);
  out->v_dtype = (DLDataType){(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16)};
  return 0;
}

static int device_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  const FbPlain *data = get(ctx, value);
  if (FH_UNLIKELY(data == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDevice};
  int64_t word = word_of(data);
  out->v_device = (DLDevice){(DLDeviceType)(int32_t)word, (int32_t)(word >> 32)};
  return 0;
}

static int pointer_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  const FbPlain *data = get(ctx, value);
  if (FH_UNLIKELY(data == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIOpaquePtr, .v_ptr = (void *)(intptr_t)word_of(data)};
  return 0;
}

HPy fb_plain_of_device(HPyContext *ctx, DLDevice device) {
  /* Made without a call of __init__: the value is stored at once. The hook is a subclass of PlainValue. */
  HPy cls = fb_hook_get(ctx, FB_HOOK_DEVICE_CLASS);
  if (HPy_IsNull(cls)) return cls;
  FbPlain *data;
  HPy h = HPy_New(ctx, cls, &data);
  if (!HPy_IsNull(h)) data->word = (int64_t)((uint64_t)(uint32_t)device.device_id << 32 | (uint32_t)device.device_type);
  HPy_Close(ctx, cls);
  return h;
}

HPy fb_plain_of_pointer(HPyContext *ctx, void *address) {
  HPy number = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)address);
  if (HPy_IsNull(number)) return number;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_OPAQUE_PTR, &number, 1);
  HPy_Close(ctx, number);
  return result;
}

static HPy device_result(HPyContext *ctx, const TVMFFIAny *value) { return fb_plain_of_device(ctx, value->v_device); }
static HPy pointer_result(HPyContext *ctx, const TVMFFIAny *value) { return fb_plain_of_pointer(ctx, value->v_ptr); }

/* --- the class ---------------------------------------------------------------------------------------------------- */

HPyDef_SLOT(plain_new, HPy_tp_new)
static HPy plain_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* they are for the subclass */
  void *data;
  HPy h = fb_instance_make(ctx, type, &plain_type, &data);
  /* A subclass of Device need not call __init__: its instance is the first CPU. The other classes store a word. */
  if (!HPy_IsNull(h)) ((FbPlain *)data)->word = kDLCPU;
  return h;
}

HPyDef_GETSET(plain_word, "_word", .doc = "The value, as a signed number.")
static HPy plain_word_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const FbPlain *data = get(ctx, self);
  return data == NULL ? HPy_NULL : HPyLong_FromInt64_t(ctx, word_of(data));
}

static int plain_word_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_TypeError, "_word cannot be deleted");
    return -1;
  }
  int64_t word = HPyLong_AsInt64_t(ctx, value);
  if (word == -1 && HPyErr_Occurred(ctx)) return -1;
  FbPlain *data = get(ctx, self); /* after the conversion, which may run Python code */
  if (data == NULL) return -1;
  fh_atomic_store_relaxed(&data->word, word);
  return 0;
}

HPy fb_plain_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&plain_new, &plain_word, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.PlainValue",
      .basicsize = sizeof(FbPlain),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbPlain),
      .defines = defines,
      .doc = "Base of the classes of values that consist of one word.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_ref_store(ctx, &plain_type, type);
  fb_argument_set_conversion(FB_TYPE_KIND_DATA_TYPE, data_type_argument);
  fb_argument_set_conversion(FB_TYPE_KIND_DEVICE, device_argument);
  fb_argument_set_conversion(FB_TYPE_KIND_OPAQUE_PTR, pointer_argument);
  fb_result_set(kTVMFFIDevice, device_result);
  fb_result_set(kTVMFFIOpaquePtr, pointer_result);
  return type;
}
