/* The class DataType: a DLDataType by value, made from its name or its numbers. The package shows users its own class
 * `dtype`, a str that contains a DataType, and sets a hook that makes instances of it. The results of the hook are
 * cached by data type. */
#include "data_type.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/instance.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "plain.h"

typedef struct FbDataType {
  DLDataType dtype;
} FbDataType;

HPyType_HELPERS(FbDataType)

static FbRef data_type_type; /* written once during the import */

/* Returns the C value of an instance. NULL with TypeError raised if the instance has no struct. The caller has checked
 * the type. */
static const DLDataType *get(HPyContext *ctx, HPy h) { return fb_plain_expect(ctx, h, FbDataType_AsStruct(ctx, h)); }

static HPy data_type_make(HPyContext *ctx, HPy cls, DLDataType dtype) {
  void *data;
  HPy h = fb_instance_make(ctx, cls, &data_type_type, &data);
  if (!HPy_IsNull(h)) ((FbDataType *)data)->dtype = dtype;
  return h;
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

/* Calls the hook with a new DataType. */
static HPy data_type_wrap(HPyContext *ctx, DLDataType dtype) {
  HPy cls = fb_ref_load(ctx, &data_type_type);
  HPy plain = data_type_make(ctx, cls, dtype);
  HPy_Close(ctx, cls);
  if (HPy_IsNull(plain)) return plain;
  HPy result = fb_hook_call(ctx, FB_HOOK_WRAP_DTYPE, &plain, 1);
  HPy_Close(ctx, plain);
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

/* An FbConversion that needs no temporary: the value is copied. */
static int data_type_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  (void)args;
  const DLDataType *dtype = get(ctx, value);
  if (FH_UNLIKELY(dtype == NULL)) return -1;
  *out = (TVMFFIAny){.type_index = kTVMFFIDataType};
  out->v_dtype = *dtype;
  return 0;
}

/* Parses the name of a data type. Returns 0, or -1 with an exception raised. */
static int parse(HPyContext *ctx, HPy name, DLDataType *out) {
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, name, "DataType() argument", &n);
  if (text == NULL) return -1;
  TVMFFIByteArray bytes = {text, (size_t)n};
  if (TVMFFIDataTypeFromString(&bytes, out) == 0) return 0;
  fb_error_raise_pending(ctx, "DataType");
  return -1;
}

/* DataType(dtype_str). */
HPyDef_SLOT(data_type_new, HPy_tp_new)
static HPy data_type_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  static const char *const names[] = {"dtype_str"};
  static const FbKeywords keywords = {"DataType", names, 1, NULL};
  HPy name;
  if (fb_keywords_bind_dict(ctx, &keywords, 1, args, nargs, kw, &name) != 0) return HPy_NULL;
  DLDataType dtype;
  int rc = parse(ctx, name, &dtype);
  HPy_Close(ctx, name);
  return rc == 0 ? data_type_make(ctx, type, dtype) : HPy_NULL;
}

HPyDef_METH(fb_data_type_from_code, "data_type_from_code", HPyFunc_VARARGS,
            .doc = "A DataType from DLPack type code, bits and lanes.")
static HPy fb_data_type_from_code_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "data_type_from_code() takes type_code, bits, lanes");
  bool ok = true;
  int64_t code = fb_plain_int(ctx, args[0], "type code", 0, UINT8_MAX, &ok);
  int64_t bits = ok ? fb_plain_int(ctx, args[1], "bits", 0, UINT8_MAX, &ok) : 0;
  /* Users write negative numbers for scalable vectors; the same 16 bits are stored as an unsigned number. */
  int64_t lanes = ok ? fb_plain_int(ctx, args[2], "lanes", INT16_MIN, INT16_MAX, &ok) : 0;
  if (!ok) return HPy_NULL;
  HPy cls = fb_ref_load(ctx, &data_type_type);
  HPy h = data_type_make(ctx, cls, (DLDataType){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes});
  HPy_Close(ctx, cls);
  return h;
}

HPyDef_GET(data_type_code, "type_code", .doc = "DLPack type code.")
static HPy data_type_code_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, dtype->code);
}

HPyDef_GET(data_type_bits, "bits", .doc = "Bits per lane.")
static HPy data_type_bits_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, dtype->bits);
}

/* Lanes are stored as 16 bits; scalable vectors have a negative count. */
HPyDef_GET(data_type_lanes, "lanes", .doc = "Lanes; negative for scalable vectors.")
static HPy data_type_lanes_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = get(ctx, self);
  return dtype == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, (int16_t)dtype->lanes);
}

HPyDef_GET(data_type_itemsize, "itemsize", .doc = "Bytes per element, rounded up.")
static HPy data_type_itemsize_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  const DLDataType *dtype = get(ctx, self);
  if (dtype == NULL) return HPy_NULL;
  if ((int16_t)dtype->lanes < 0) {
    return fb_raise(ctx, ctx->h_ValueError, "a scalable vector has no size known in advance");
  }
  /* At most 255 bits times 32767 lanes, which fits into an int32. */
  return HPyLong_FromInt32_t(ctx, ((int32_t)dtype->bits * dtype->lanes + 7) / 8);
}

HPyDef_SLOT(data_type_str, HPy_tp_str)
static HPy data_type_str_impl(HPyContext *ctx, HPy self) {
  const DLDataType *dtype = get(ctx, self);
  TVMFFIAny text;
  if (dtype == NULL) return HPy_NULL;
  if (TVMFFIDataTypeToString(dtype, &text) != 0) return fb_error_raise_pending(ctx, "DataType.__str__");
  /* Names of up to 7 bytes are in the value; longer names are an object, which is released. */
  if (text.type_index == kTVMFFISmallStr) return fb_text_new(ctx, text.v_bytes, text.small_str_len);
  const TVMFFIByteArray *bytes = (const TVMFFIByteArray *)(text.v_obj + 1);
  HPy result = fb_text_new(ctx, bytes->data, bytes->size);
  TVMFFIObjectDecRef(text.v_obj);
  return result;
}

/* A pickle has the class and the name, and restores the DataType by type(self)(str(self)). */
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
  if (!fb_plain_is_equality(ctx, other, op, &data_type_type)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  const DLDataType *a = get(ctx, self), *b = a == NULL ? NULL : get(ctx, other);
  return b == NULL ? HPy_NULL : fb_plain_equality(ctx, is_same(*a, *b), op);
}

HPyDef_SLOT(data_type_hash, HPy_tp_hash)
static HPy_hash_t data_type_hash_impl(HPyContext *ctx, HPy self) {
  const DLDataType *dtype = get(ctx, self);
  /* All 32 bits: different data types have different hashes. */
  return dtype == NULL ? -1 : (HPy_hash_t)dtype->code << 24 | (HPy_hash_t)dtype->bits << 16 | dtype->lanes;
}

/* Also registers the conversions of a DataType argument and of a native data type. */
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
  if (!HPy_IsNull(type)) fb_ref_store(ctx, &data_type_type, type);
  fb_argument_set_conversion(FB_TYPE_KIND_DATA_TYPE, data_type_argument);
  fb_result_set(kTVMFFIDataType, data_type_result);
  return type;
}
