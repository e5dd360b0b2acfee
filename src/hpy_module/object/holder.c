/* Reads from the reflection whether a type can hold references to other objects. */
#include "holder.h"

#include <string.h>

#include "core/platform/atomic.h"
#include "type_attr.h"

FbHolderTraverse fb_holder_traverse(int32_t type_index) {
  static const TVMFFITypeAttrColumn *known; /* columns live as long as the process */
  static const TVMFFIByteArray name = {"__ffi_traverse__", sizeof("__ffi_traverse__") - 1};
  const TVMFFITypeAttrColumn *column = fh_atomic_load_relaxed(&known);
  if (column == NULL) {
    column = TVMFFIGetTypeAttrColumn(&name);
    if (column == NULL) return NULL;
    fh_atomic_store_relaxed(&known, column);
  }
  const TVMFFIAny *value = fb_type_attr_in(column, type_index);
  FbHolderTraverse traverse = NULL;
  if (value != NULL && value->type_index == kTVMFFIOpaquePtr) memcpy(&traverse, &value->v_ptr, sizeof(traverse));
  return traverse;
}

static bool has_holding_field(const TVMFFITypeInfo *info) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    if (fb_holder_is_field(&info->fields[i])) return true;
  }
  return fb_holder_traverse(info->type_index) != NULL;
}

FbHolderKind fb_holder_kind(int32_t type_index) {
  switch (type_index) {
  case kTVMFFIArray:
  case kTVMFFIList: return FB_HOLDER_SEQUENCE;
  case kTVMFFIMap:
  case kTVMFFIDict: return FB_HOLDER_MAPPING;
  case kTVMFFIFunction: return FB_HOLDER_FUNCTION;
  case kTVMFFIOpaquePyObject: return FB_HOLDER_PYTHON;
  case kTVMFFIError: return FB_HOLDER_ERROR;
  default: break;
  }
  const TVMFFITypeInfo *info = type_index < kTVMFFIStaticObjectBegin ? NULL : TVMFFIGetTypeInfo(type_index);
  if (info == NULL) return FB_HOLDER_NONE;
  for (int32_t i = 0; i < info->type_depth; ++i) {
    if (has_holding_field(info->type_ancestors[i])) return FB_HOLDER_FIELDS;
  }
  return has_holding_field(info) ? FB_HOLDER_FIELDS : FB_HOLDER_NONE;
}
