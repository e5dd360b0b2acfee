/* Reads from the reflection whether a type can hold references to other objects. */
#include "holder.h"

static bool has_holding_field(const TVMFFITypeInfo *info) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    if (fb_holder_is_field(&info->fields[i])) return true;
  }
  return false;
}

FbHolderKind fb_holder_kind(int32_t type_index) {
  switch (type_index) {
  case kTVMFFIArray:
  case kTVMFFIList: return FB_HOLDER_SEQUENCE;
  case kTVMFFIMap:
  case kTVMFFIDict: return FB_HOLDER_MAPPING;
  case kTVMFFIFunction: return FB_HOLDER_FUNCTION;
  case kTVMFFIOpaquePyObject: return FB_HOLDER_PYTHON;
  default: break;
  }
  const TVMFFITypeInfo *info = type_index < kTVMFFIStaticObjectBegin ? NULL : TVMFFIGetTypeInfo(type_index);
  if (info == NULL) return FB_HOLDER_NONE;
  for (int32_t i = 0; i < info->type_depth; ++i) {
    if (has_holding_field(info->type_ancestors[i])) return FB_HOLDER_FIELDS;
  }
  return has_holding_field(info) ? FB_HOLDER_FIELDS : FB_HOLDER_NONE;
}

void fb_holder_adopt(HPy cls, bool holds) {
  if (fb_context_collect_offset != 0) fb_ext->collect(cls, holds);
}

/* A type that Python code defined has its class before it has fields: fields_define comes here again. */
void fb_holder_adopt_for(HPy cls, int32_t type_index) {
  if (fb_context_collect_offset == 0) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  if (info == NULL || (info->metadata == NULL && type_index >= kTVMFFIDynObjectBegin)) return;
  fb_holder_adopt(cls, fb_holder_kind(type_index) != FB_HOLDER_NONE);
}

FH_NOINLINE void fb_holder_note_slow(HPy cls) { fb_holder_adopt(cls, false); }
