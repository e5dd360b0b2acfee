/* DataType, Device, OpaquePtr. */
#include "value.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "hold.h"
#include "hooks.h"
#include "text.h"
#include "type.h"

typedef struct FbDataType {
  DLDataType dtype;
} FbDataType;
typedef struct FbDevice {
  DLDevice device;
} FbDevice;
typedef struct FbOpaquePtr {
  void *address;
} FbOpaquePtr;

HPyType_HELPERS(FbDataType)
HPyType_HELPERS(FbDevice)
HPyType_HELPERS(FbOpaquePtr)

/* Written once during the import. */
static FbCell data_type_type, device_type, opaque_ptr_type;

/* The struct of h, which begins with its value. */
static const void *expect(HPyContext *ctx, HPy h, const void *data) {
  if (FB_UNLIKELY(data == NULL)) fb_type_raise_unmade(ctx, h);
  return data;
}

const DLDataType *fb_data_type_get(HPyContext *ctx, HPy h) { return expect(ctx, h, FbDataType_AsStruct(ctx, h)); }
const DLDevice *fb_device_get(HPyContext *ctx, HPy h) { return expect(ctx, h, FbDevice_AsStruct(ctx, h)); }
void *const *fb_opaque_ptr_get(HPyContext *ctx, HPy h) { return expect(ctx, h, FbOpaquePtr_AsStruct(ctx, h)); }

/* The argument as an int in [low, high]; sets *ok to false with an exception raised otherwise. */
static int64_t int_in_range(HPyContext *ctx, HPy h, const char *what, int64_t low, int64_t high, bool *ok) {
  int64_t value = HPyLong_AsInt64_t(ctx, h);
  if (value == -1 && HPyErr_Occurred(ctx)) {
    *ok = false;
  } else if (value < low || value > high) {
    fb_raise(ctx, ctx->h_ValueError, "%s must be from %lld to %lld, got %lld", what, (long long)low, (long long)high,
             (long long)value);
    *ok = false;
  }
  return value;
}

static HPy equality(HPyContext *ctx, bool same, HPy_RichCmpOp op) {
  return HPy_Dup(ctx, same == (op == HPy_EQ) ? ctx->h_True : ctx->h_False);
}

static bool is_equality(HPyContext *ctx, HPy other, HPy_RichCmpOp op, const FbCell *cell) {
  if (op != HPy_EQ && op != HPy_NE) return false;
  HPy type = fb_cell_load(ctx, cell);
  bool same_type = HPy_TypeCheck(ctx, other, type);
  HPy_Close(ctx, type);
  return same_type;
}

/* --- DataType --------------------------------------------------------------------------------------------------------- */

static HPy data_type_make(HPyContext *ctx, HPy cls, DLDataType dtype) {
  void *data;
  HPy h = fb_type_make(ctx, cls, &data_type_type, &data);
  if (!HPy_IsNull(h)) ((FbDataType *)data)->dtype = dtype;
  return h;
}

/* The package's values for the first data types that come along, for good: they are few, and immutable. An entry is
 * complete before it is published and is never freed. */
typedef struct Known {
  DLDataType dtype;
  FbCell value;
} Known;
enum { N_KNOWN = 256 };
static _Atomic(Known *) known[N_KNOWN];

FB_INLINE _Atomic(Known *) *known_slot(DLDataType dtype) {
  return &known[(dtype.code * 37u + dtype.bits + dtype.lanes * 11u) % N_KNOWN];
}

static bool is_same(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

/* `hook` is what the value came from. If that was replaced meanwhile, the entry may have been made after the others were
 * forgotten, and goes again. */
static void remember(HPyContext *ctx, DLDataType dtype, HPy value, const void *hook) {
  Known *entry = calloc(1, sizeof(*entry)), *expected = NULL;
  if (entry == NULL) return;
  entry->dtype = dtype;
  fb_cell_store(ctx, &entry->value, value);
  /* Release: pairs with the acquire of fb_data_type_result. Acquire: pairs with fb_data_type_forget, after which the new
   * hook is seen. */
  if (!atomic_compare_exchange_strong_explicit(known_slot(dtype), &expected, entry, memory_order_acq_rel,
                                               memory_order_relaxed)) {
    fb_cell_clear(ctx, &entry->value);
    free(entry);
  } else if (FB_UNLIKELY(fb_hook_current(FB_HOOK_WRAP_DTYPE) != hook)) { /* leaked, as in fb_data_type_forget */
    atomic_compare_exchange_strong_explicit(known_slot(dtype), &entry, NULL, memory_order_relaxed,
                                            memory_order_relaxed);
  }
}

void fb_data_type_forget(void) {
  /* Who is reading an entry may go on: they are leaked. */
  for (int i = 0; i < N_KNOWN; i++) atomic_store_explicit(&known[i], NULL, memory_order_release); /* see remember() */
}

static HPy data_type_wrap(HPyContext *ctx, DLDataType dtype) {
  HPy cls = fb_cell_load(ctx, &data_type_type);
  HPy plain = data_type_make(ctx, cls, dtype);
  HPy_Close(ctx, cls);
  if (HPy_IsNull(plain)) return plain;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_DTYPE, &plain, 1);
  HPy_Close(ctx, plain);
  return result;
}

HPy fb_data_type_result(HPyContext *ctx, DLDataType dtype) {
  const Known *entry = atomic_load_explicit(known_slot(dtype), memory_order_acquire);
  if (FB_LIKELY(entry != NULL && is_same(entry->dtype, dtype))) return fb_cell_load(ctx, &entry->value);
  const void *hook = fb_hook_current(FB_HOOK_WRAP_DTYPE);
  HPy value = data_type_wrap(ctx, dtype);
  if (!HPy_IsNull(value) && entry == NULL) remember(ctx, dtype, value, hook);
  return value;
}

HPyDef_SLOT(data_type_new, HPy_tp_new)
static HPy data_type_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1) return fb_raise(ctx, ctx->h_TypeError, "DataType() takes one argument, got %zd", nargs);
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, args[0], "DataType() argument", &n);
  if (text == NULL) return HPy_NULL;
  TVMFFIByteArray bytes = {text, (size_t)n};
  DLDataType dtype;
  if (TVMFFIDataTypeFromString(&bytes, &dtype) != 0) return fb_error_raise_pending(ctx, "DataType");
  return data_type_make(ctx, type, dtype);
}

HPyDef_METH(fb_data_type_from_code, "data_type_from_code", HPyFunc_VARARGS,
            .doc = "A DataType from DLPack type code, bits and lanes.")
static HPy fb_data_type_from_code_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "data_type_from_code() takes type_code, bits, lanes");
  bool ok = true;
  int64_t code = int_in_range(ctx, args[0], "type code", 0, UINT8_MAX, &ok);
  int64_t bits = ok ? int_in_range(ctx, args[1], "bits", 0, UINT8_MAX, &ok) : 0;
  int64_t lanes = ok ? int_in_range(ctx, args[2], "lanes", INT16_MIN, UINT16_MAX, &ok) : 0;
  if (!ok) return HPy_NULL;
  HPy cls = fb_cell_load(ctx, &data_type_type);
  HPy h = data_type_make(ctx, cls, (DLDataType){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes});
  HPy_Close(ctx, cls);
  return h;
}

HPyDef_GET(data_type_code, "type_code", .doc = "DLPack type code.")
static HPy data_type_code_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, dtype->code);
}

HPyDef_GET(data_type_bits, "bits", .doc = "Bits per lane.")
static HPy data_type_bits_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, dtype->bits);
}

/* Lanes are stored as 16 bits; scalable vectors have a negative count. */
HPyDef_GET(data_type_lanes, "lanes", .doc = "Lanes; negative for scalable vectors.")
static HPy data_type_lanes_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, (int16_t)dtype->lanes);
}

HPyDef_GET(data_type_itemsize, "itemsize", .doc = "Bytes per element, rounded up.")
static HPy data_type_itemsize_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  if (dtype == NULL) return HPy_NULL;
  if ((int16_t)dtype->lanes < 0) {
    return fb_raise(ctx, ctx->h_ValueError, "a scalable vector has no size known in advance");
  }
  return HPyLong_FromInt32_t(ctx, ((int32_t)dtype->bits * dtype->lanes + 7) / 8);
}

HPyDef_SLOT(data_type_str, HPy_tp_str)
static HPy data_type_str_impl(HPyContext *ctx, HPy self) {
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  TVMFFIAny text;
  if (dtype == NULL) return HPy_NULL;
  if (TVMFFIDataTypeToString(dtype, &text) != 0) return fb_error_raise_pending(ctx, "DataType.__str__");
  if (text.type_index == kTVMFFISmallStr) return fb_text_new(ctx, text.v_bytes, text.small_str_len);
  const TVMFFIByteArray *bytes = (const TVMFFIByteArray *)(text.v_obj + 1);
  HPy result = fb_text_new(ctx, bytes->data, bytes->size);
  TVMFFIObjectDecRef(text.v_obj);
  return result;
}

HPyDef_METH(data_type_reduce, "__reduce__", HPyFunc_NOARGS, .doc = "Pickle by name.")
static HPy data_type_reduce_impl(HPyContext *ctx, HPy self) {
  HPy text = data_type_str_impl(ctx, self);
  if (HPy_IsNull(text)) return text;
  HPy arguments = HPyTuple_FromArray(ctx, &text, 1), type = HPy_Type(ctx, self), parts[2] = {type, arguments};
  HPy result = HPy_IsNull(arguments) || HPy_IsNull(type) ? HPy_NULL : HPyTuple_FromArray(ctx, parts, 2);
  if (!HPy_IsNull(arguments)) HPy_Close(ctx, arguments);
  if (!HPy_IsNull(type)) HPy_Close(ctx, type);
  HPy_Close(ctx, text);
  return result;
}

HPyDef_SLOT(data_type_compare, HPy_tp_richcompare)
static HPy data_type_compare_impl(HPyContext *ctx, HPy self, HPy other, HPy_RichCmpOp op) {
  if (!is_equality(ctx, other, op, &data_type_type)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  const DLDataType *a = fb_data_type_get(ctx, self), *b = a == NULL ? NULL : fb_data_type_get(ctx, other);
  return b == NULL ? HPy_NULL : equality(ctx, is_same(*a, *b), op);
}

HPyDef_SLOT(data_type_hash, HPy_tp_hash)
static HPy_hash_t data_type_hash_impl(HPyContext *ctx, HPy self) {
  const DLDataType *dtype = fb_data_type_get(ctx, self);
  return dtype == NULL ? -1 : (HPy_hash_t)dtype->code << 24 | (HPy_hash_t)dtype->bits << 16 | dtype->lanes;
}

HPy fb_data_type_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {
      &data_type_new, &data_type_code,    &data_type_bits, &data_type_lanes,  &data_type_itemsize,
      &data_type_str, &data_type_compare, &data_type_hash, &data_type_reduce, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.DataType",
      .basicsize = sizeof(FbDataType),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbDataType),
      .defines = defines,
      .doc = "An element type: DLPack type code, bits per lane, lanes.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_cell_store(ctx, &data_type_type, type);
  return type;
}

/* --- Device ------------------------------------------------------------------------------------------------------------- */

HPy fb_device_result(HPyContext *ctx, DLDevice device) {
  HPy cls = fb_hook_get(ctx, FB_HOOK_DEVICE_CLASS);
  if (HPy_IsNull(cls)) return cls;
  FbDevice *data;
  HPy h = HPy_New(ctx, cls, &data);
  if (!HPy_IsNull(h)) data->device = device;
  HPy_Close(ctx, cls);
  return h;
}

HPyDef_SLOT(device_new, HPy_tp_new)
static HPy device_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* they are for __init__ */
  void *data;
  HPy h = fb_type_make(ctx, type, &device_type, &data);
  if (!HPy_IsNull(h)) ((FbDevice *)data)->device = (DLDevice){kDLCPU, 0};
  return h;
}

HPyDef_SLOT(device_init, HPy_tp_init)
static int device_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs < 1 || nargs > 2) {
    fb_raise(ctx, ctx->h_TypeError, "Device() takes device_type[, index], got %zd arguments", nargs);
    return -1;
  }
  bool ok = true;
  int64_t type = int_in_range(ctx, args[0], "device type", 0, INT32_MAX, &ok);
  int64_t index = ok && nargs > 1 ? int_in_range(ctx, args[1], "device index", INT32_MIN, INT32_MAX, &ok) : 0;
  if (!ok) return -1;
  FbDevice *data = FbDevice_AsStruct(ctx, self);
  if (data == NULL) {
    fb_type_raise_unmade(ctx, self);
    return -1;
  }
  data->device = (DLDevice){(DLDeviceType)type, (int32_t)index};
  return 0;
}

HPyDef_GET(device_code, "device_type", .doc = "DLPack device type.")
static HPy device_code_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDevice *device = fb_device_get(ctx, self);
  return device == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, (int32_t)device->device_type);
}

HPyDef_GET(device_index, "index", .doc = "Which of the devices of that type.")
static HPy device_index_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDevice *device = fb_device_get(ctx, self);
  return device == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, device->device_id);
}

HPyDef_SLOT(device_compare, HPy_tp_richcompare)
static HPy device_compare_impl(HPyContext *ctx, HPy self, HPy other, HPy_RichCmpOp op) {
  if (!is_equality(ctx, other, op, &device_type)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  const DLDevice *a = fb_device_get(ctx, self), *b = a == NULL ? NULL : fb_device_get(ctx, other);
  return b == NULL ? HPy_NULL : equality(ctx, a->device_type == b->device_type && a->device_id == b->device_id, op);
}

HPyDef_SLOT(device_hash, HPy_tp_hash)
static HPy_hash_t device_hash_impl(HPyContext *ctx, HPy self) {
  const DLDevice *device = fb_device_get(ctx, self);
  return device == NULL ? -1 : (HPy_hash_t)device->device_type * 1000003 + (uint32_t)device->device_id;
}

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
  if (!HPy_IsNull(type)) fb_cell_store(ctx, &device_type, type);
  return type;
}

/* --- OpaquePtr ------------------------------------------------------------------------------------------------------------ */

HPy fb_opaque_ptr_result(HPyContext *ctx, void *address) {
  HPy number = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)address);
  if (HPy_IsNull(number)) return number;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_OPAQUE_PTR, &number, 1);
  HPy_Close(ctx, number);
  return result;
}

HPyDef_SLOT(opaque_ptr_new, HPy_tp_new)
static HPy opaque_ptr_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1) return fb_raise(ctx, ctx->h_TypeError, "OpaquePtr() takes one argument, got %zd", nargs);
  void *address = HPyLong_AsVoidPtr(ctx, args[0]);
  if (address == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  void *data;
  HPy h = fb_type_make(ctx, type, &opaque_ptr_type, &data);
  if (!HPy_IsNull(h)) ((FbOpaquePtr *)data)->address = address;
  return h;
}

HPyDef_GET(opaque_ptr_value, "value", .doc = "The address.")
static HPy opaque_ptr_value_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  void *const *address = fb_opaque_ptr_get(ctx, self);
  return address == NULL ? HPy_NULL : HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)*address);
}

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
  if (!HPy_IsNull(type)) fb_cell_store(ctx, &opaque_ptr_type, type);
  return type;
}
