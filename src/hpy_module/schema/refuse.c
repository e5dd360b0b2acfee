/* Messages about native values that do not match a schema: "expected X, got Y".
 *
 * They are for Python users, so they name a value's type like TypeSchema does: short and long strings are both "str",
 * and a pointer is a "ctypes.c_void_p". */
#include "refuse.h"

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

FbFit fb_refuse_value(const FbSchema *schema, FbMismatch *mismatch, const char *given) {
  return fb_mismatch_set(mismatch, "expected %s, got %s", schema->name, given);
}

FbFit fb_refuse_length(const FbSchema *schema, FbMismatch *mismatch, const char *given, int64_t n_given) {
  return fb_mismatch_set(mismatch, "expected %s of length %d, got %s of length %lld", schema->name, (int)schema->n_args,
                         given, (long long)n_given);
}

const char *fb_refuse_name_of(const TVMFFIAny *view, const FbMismatch *mismatch) {
  return mismatch != NULL && mismatch->given != NULL ? mismatch->given : fb_refuse_describe(view);
}

FbFit fb_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  return mismatch == NULL ? FB_MISFIT : fb_refuse_value(schema, mismatch, fb_refuse_name_of(view, mismatch));
}

FbFit fb_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbMismatch *mismatch) {
  /* The message comes first: the reason is appended to it. */
  fb_refuse_view(schema, view, mismatch);
  return fb_mismatch_take_native(NULL, mismatch, ": ", "");
}

FbFit fb_refuse_no_memory(void) {
  TVMFFIErrorSetRaisedFromCStr("MemoryError", "out of memory");
  return FB_RAISED;
}
