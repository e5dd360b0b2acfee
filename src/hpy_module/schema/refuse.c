/* Messages about native values that do not match a schema: "expected X, got Y".
 *
 * They are for Python users, so they name a value's type like TypeSchema does: short and long strings are both "str",
 * and a pointer is a "ctypes.c_void_p". */
#include "refuse.h"

#include <stdlib.h>

#include "hpy_module/context/drop.h"

const char *fb_refuse_describe(const TVMFFIAny *view) {
  switch (view->type_index) {
  case kTVMFFIDataType: return "dtype";
  case kTVMFFIOpaquePtr: return "ctypes.c_void_p";
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return "str";
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes:
  case kTVMFFIBytes: return "bytes";
  case kTVMFFIBigInt: return "int";
  default: break;
  }
  /* Any other type has its key as name; the key is valid for the life of the process. */
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(view->type_index);
  return info == NULL ? "a value of unknown type" : info->type_key.data;
}

FbConverted fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given) {
  return fb_mismatch_set(mismatch, "expected %s, got %s", schema->name, given);
}

FbConverted fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given) {
  return fb_mismatch_set(mismatch, "expected %s of length %d, got %s of length %lld", schema->name, (int)schema->n_args,
                         given, (long long)n_given);
}

const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch) {
  return mismatch != NULL && mismatch->given != NULL ? mismatch->given : fb_refuse_describe(view);
}

FbConverted fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  return mismatch == NULL ? FB_MISMATCH : fb_refuse_value(schema, mismatch, fb_refuse_name_of(view, mismatch));
}

FbConverted fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  /* The message comes first: the reason is appended to it. */
  fb_refuse_view(schema, view, mismatch);
  return fb_mismatch_take_native(NULL, mismatch, ": ", "");
}

FbConverted fb_refuse_no_memory(void) {
  TVMFFIErrorSetRaisedFromCStr("MemoryError", "out of memory");
  return FB_RAISED;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* An array of owned values with a fixed capacity. The count grows value by value, so that after a failure exactly the
 * existing values are released. */

int fb_values_begin(FbValues *values, int64_t n) {
  values->n = 0;
  /* A constructor of the core takes at most INT32_MAX arguments. malloc(0) may return NULL, so an empty array has room
   * for one. */
  values->data = n > INT32_MAX ? NULL : malloc((size_t)(n > 0 ? n : 1) * sizeof(values->data[0]));
  return values->data == NULL ? -1 : 0;
}

void fb_values_end(FbValues *values) {
  for (int32_t i = 0; i < values->n; ++i) fb_any_drop(&values->data[i]);
  free(values->data);
}

void fb_values_abandon(FbValues *values) {
  for (int32_t i = 0; i < values->n; ++i) fb_drop_any(&values->data[i], FB_DROP_UNKNOWN);
  free(values->data);
}
