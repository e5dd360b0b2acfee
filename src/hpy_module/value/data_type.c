/* Data types: the package's objects for native data types, cached by data type, and the names of data types. Data types
 * cross between C and Python as numbers, in the form that plain.c describes. */
#include "data_type.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/ref.h"
#include "hpy_module/context/text.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"

FH_INLINE uint32_t word_of(DLDataType dtype) {
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
  HPy word = HPyLong_FromInt64_t(ctx, word_of(dtype));
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

HPyDef_METH(fb_data_type_parse, "data_type_parse", HPyFunc_O, .doc = "The number of a data type by its name.")
static HPy fb_data_type_parse_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, arg, "DataType() argument", &n);
  if (text == NULL) return HPy_NULL;
  TVMFFIByteArray bytes = {text, (size_t)n};
  DLDataType dtype;
  if (TVMFFIDataTypeFromString(&bytes, &dtype) != 0) return fb_error_raise_pending(ctx, "DataType");
  return HPyLong_FromInt64_t(ctx, word_of(dtype));
}

HPyDef_METH(fb_data_type_name, "data_type_name", HPyFunc_O, .doc = "The name of a data type by its number.")
static HPy fb_data_type_name_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
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
