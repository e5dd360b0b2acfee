/* The class Device: a DLDevice by value. The package derives its own Device class, which knows the names of devices,
 * and registers that class for devices that come from native code. */
#include "device.h"

#include "hpy_module/context/hook.h"
#include "hpy_module/context/instance.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "plain.h"

typedef struct FbDevice {
  DLDevice device;
} FbDevice;

HPyType_HELPERS(FbDevice)

static FbRef device_type; /* written once during the import */

/* Returns the C value of an instance. NULL with TypeError raised if the instance has no struct. The caller has checked
 * the type. */
static const DLDevice *get(HPyContext *ctx, HPy h) { return fb_plain_expect(ctx, h, FbDevice_AsStruct(ctx, h)); }

HPy fb_device_result(HPyContext *ctx, DLDevice device) {
  /* Made without a call of __init__: the value is stored at once. The hook is a subclass of Device. */
  HPy cls = fb_hook_get(ctx, FB_HOOK_DEVICE_CLASS);
  if (HPy_IsNull(cls)) return cls;
  FbDevice *data;
  HPy h = HPy_New(ctx, cls, &data);
  if (!HPy_IsNull(h)) data->device = device;
  HPy_Close(ctx, cls);
  return h;
}

static HPy device_result(HPyContext *ctx, const TVMFFIAny *value) { return fb_device_result(ctx, value->v_device); }

/* An FbConversion that needs no temporary: the value is copied. */
static int device_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  const DLDevice *device = get(ctx, value);
  if (FH_UNLIKELY(device == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDevice, .v_device = *device};
  return 0;
}

/* An instance is valid (the first CPU) before its __init__ runs, and also if a subclass does not call __init__. */
HPyDef_SLOT(device_new, HPy_tp_new)
static HPy device_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* they are for __init__ */
  void *data;
  HPy h = fb_instance_make(ctx, type, &device_type, &data);
  if (!HPy_IsNull(h)) ((FbDevice *)data)->device = (DLDevice){kDLCPU, 0};
  return h;
}

/* In __init__ and not in __new__, because the package's __init__ accepts names and calls this __init__ with numbers. */
HPyDef_SLOT(device_init, HPy_tp_init)
static int device_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs < 1 || nargs > 2) {
    fb_raise(ctx, ctx->h_TypeError, "Device() takes device_type[, index], got %zd arguments", nargs);
    return -1;
  }
  bool ok = true;
  int64_t type = fb_plain_int(ctx, args[0], "device type", 0, INT32_MAX, &ok);
  int64_t index = ok && nargs > 1 ? fb_plain_int(ctx, args[1], "device index", INT32_MIN, INT32_MAX, &ok) : 0;
  if (!ok) return -1;
  /* Read after the conversions, which may run Python code. */
  FbDevice *data = FbDevice_AsStruct(ctx, self);
  if (data == NULL) {
    fb_instance_raise_unmade(ctx, self);
    return -1;
  }
  data->device = (DLDevice){(DLDeviceType)type, (int32_t)index};
  return 0;
}

HPyDef_GET(device_code, "device_type", .doc = "DLPack device type, a number of DLDeviceType.")
static HPy device_code_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDevice *device = get(ctx, self);
  return device == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, (int32_t)device->device_type);
}

HPyDef_GET(device_index, "index", .doc = "Which of the devices of that type.")
static HPy device_index_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDevice *device = get(ctx, self);
  return device == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, device->device_id);
}

HPyDef_SLOT(device_compare, HPy_tp_richcompare)
static HPy device_compare_impl(HPyContext *ctx, HPy self, HPy other, HPy_RichCmpOp op) {
  if (!fb_plain_is_equality(ctx, other, op, &device_type)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  const DLDevice *a = get(ctx, self), *b = a == NULL ? NULL : get(ctx, other);
  return b == NULL ? HPy_NULL
                   : fb_plain_equality(ctx, a->device_type == b->device_type && a->device_id == b->device_id, op);
}

/* A device type is not negative, and the index is used as unsigned, so the hash is never -1. */
HPyDef_SLOT(device_hash, HPy_tp_hash)
static HPy_hash_t device_hash_impl(HPyContext *ctx, HPy self) {
  const DLDevice *device = get(ctx, self);
  return device == NULL ? -1 : (HPy_hash_t)device->device_type * 1000003 + (uint32_t)device->device_id;
}

/* Also registers the conversions of a Device argument and of a native device. */
HPy fb_device_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&device_new,     &device_init, &device_code, &device_index,
                              &device_compare, &device_hash, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.Device",
      .basicsize = sizeof(FbDevice),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbDevice),
      .defines = defines,
      .doc = "DLPack device type and index.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_ref_store(ctx, &device_type, type);
  fb_argument_set_conversion(FB_TYPE_KIND_DEVICE, device_argument);
  fb_result_set(kTVMFFIDevice, device_result);
  return type;
}
