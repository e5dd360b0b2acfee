/* The class PlainValue: a native value of one word, copied when it is passed, so nothing is shared with native code and
 * nothing is released. The package derives the classes of data types, devices and pointers from it; the kind of a class
 * decides the form of the word:
 *
 * - data type: the type code, from bit 8 on the bits, from bit 16 on the lanes
 * - device: the device type, from bit 32 on the index
 * - pointer: the address
 */
#include "value.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"

/* --- the class ---------------------------------------------------------------------------------------------------- */

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
static int data_type_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FH_MAYBE_UNUSED FbArgs *args) {
  const FbPlain *data = get(ctx, value);
  if (FH_UNLIKELY(data == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDataType};
  int64_t word = word_of(data);
  out->v_dtype = (DLDataType){(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16)};
  return 0;
}

static int device_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FH_MAYBE_UNUSED FbArgs *args) {
  const FbPlain *data = get(ctx, value);
  if (FH_UNLIKELY(data == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDevice};
  int64_t word = word_of(data);
  out->v_device = (DLDevice){(DLDeviceType)(int32_t)word, (int32_t)(word >> 32)};
  return 0;
}

static int pointer_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FH_MAYBE_UNUSED FbArgs *args) {
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
static HPy plain_word_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  const FbPlain *data = get(ctx, self);
  return data == NULL ? HPy_NULL : HPyLong_FromInt64_t(ctx, word_of(data));
}

static int plain_word_set(HPyContext *ctx, HPy self, HPy value, FH_MAYBE_UNUSED void *closure) {
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
  static HPyType_Spec spec = FB_TYPE_SPEC(FbPlain, "PlainValue", HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE, defines,
                                          "Base of the classes of values that consist of one word.");
  HPy type = fb_type_new_root(ctx, &spec, &plain_type);
  fb_argument_set_conversion(FB_TYPE_KIND_DATA_TYPE, data_type_argument);
  fb_argument_set_conversion(FB_TYPE_KIND_DEVICE, device_argument);
  fb_argument_set_conversion(FB_TYPE_KIND_OPAQUE_PTR, pointer_argument);
  fb_result_set(kTVMFFIDevice, device_result);
  fb_result_set(kTVMFFIOpaquePtr, pointer_result);
  return type;
}

/* --- data types --------------------------------------------------------------------------------------------------- */

/* Data types: the package's objects for native data types, cached by data type, and the names of data types. Data types
 * cross between C and Python as numbers, in the form that plain.c describes. */

FH_INLINE uint32_t bits_of(DLDataType dtype) {
  return dtype.code | (uint32_t)dtype.bits << 8 | (uint32_t)dtype.lanes << 16;
}

/* The hook's results for the first data types: these are few, and immutable. A direct-mapped cache: of several data
 * types with the same slot, the first keeps the slot.
 *
 * `hook` identifies the hook that made the value; a value of a replaced hook is made again. An entry is complete before
 * it is published and is never freed, because another thread may read it. */
typedef struct Known {
  DLDataType dtype;
  const void *hook;
  FbRef value;
} Known;
enum { N_KNOWN = 256 };
static Known *known[N_KNOWN];

/* The factors distribute the usual data types over the slots. */
FH_INLINE Known **known_slot(DLDataType dtype) {
  return &known[(dtype.code * 37u + dtype.bits + dtype.lanes * 11u) % N_KNOWN];
}

static bool is_same(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

/* Publishes a value in place of `old`: an entry of a replaced hook, or NULL. If memory is exhausted, or another thread
 * was first, the value is not cached, and the next conversion calls the hook again. */
static void remember(HPyContext *ctx, DLDataType dtype, HPy value, const void *hook, Known *old) {
  Known *entry = calloc(1, sizeof(*entry));
  if (entry == NULL) return;
  *entry = (Known){.dtype = dtype, .hook = hook};
  fb_ref_store(ctx, &entry->value, value);
  /* release: pairs with the acquire of fb_data_type_result */
  if (!fh_atomic_cas_release(known_slot(dtype), &old, entry)) {
    fb_ref_clear(ctx, &entry->value);
    free(entry);
  }
}

static HPy data_type_wrap(HPyContext *ctx, DLDataType dtype) {
  HPy word = HPyLong_FromInt64_t(ctx, bits_of(dtype));
  if (HPy_IsNull(word)) return word;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_DTYPE, &word, 1);
  HPy_Close(ctx, word);
  return result;
}

HPy fb_data_type_result(HPyContext *ctx, DLDataType dtype) {
  Known *entry = fh_atomic_load_acquire(known_slot(dtype)); /* pairs with remember() */
  /* Read before the hook is called: if the hook is replaced during the call, the new entry is out of date at once. */
  const void *hook = fb_hook_current(FB_HOOK_WRAP_DTYPE);
  bool is_current = entry != NULL && entry->hook == hook;
  if (FH_LIKELY(is_current && is_same(entry->dtype, dtype))) return fb_ref_load(ctx, &entry->value);
  HPy value = data_type_wrap(ctx, dtype);
  /* If another data type has the slot under the current hook, it keeps the slot. */
  if (!HPy_IsNull(value) && !is_current) remember(ctx, dtype, value, hook, entry);
  return value;
}

static HPy data_type_result(HPyContext *ctx, const TVMFFIAny *value) {
  return fb_data_type_result(ctx, value->v_dtype);
}

void fb_data_type_init(void) { fb_result_set(kTVMFFIDataType, data_type_result); }

FB_METHOD_O(fb_data_type_parse, "data_type_parse", arg, "The number of a data type by its name.") {
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, arg, "DataType() argument", &n);
  if (text == NULL) return HPy_NULL;
  TVMFFIByteArray bytes = {text, (size_t)n};
  DLDataType dtype;
  if (TVMFFIDataTypeFromString(&bytes, &dtype) != 0) return fb_error_raise_pending(ctx, "DataType");
  return HPyLong_FromInt64_t(ctx, bits_of(dtype));
}

FB_METHOD_O(fb_data_type_name, "data_type_name", arg, "The name of a data type by its number.") {
  int64_t word = HPyLong_AsInt64_t(ctx, arg);
  if (word == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  DLDataType dtype = {(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16)};
  TVMFFIAny text;
  if (TVMFFIDataTypeToString(&dtype, &text) != 0) return fb_error_raise_pending(ctx, "DataType.__str__");
  /* Names of up to 7 bytes are in the value; longer names are an object, which is released. */
  if (text.type_index == kTVMFFISmallStr) return fb_text_new(ctx, text.v_bytes, text.small_str_len);
  const TVMFFIByteArray *bytes = (const TVMFFIByteArray *)(text.v_obj + 1);
  HPy result = fb_text_new(ctx, bytes->data, bytes->size);
  TVMFFIObjectDecRef(text.v_obj);
  return result;
}
