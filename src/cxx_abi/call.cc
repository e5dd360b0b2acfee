/* call.cc - global functions called by name, their errors thrown. */
#include "call.h"

#include <string.h>

namespace fx {

TVMFFIAny view_of(bool value) {
  TVMFFIAny view{};
  view.type_index = kTVMFFIBool;
  view.v_int64 = value;
  return view;
}

TVMFFIAny view_of_handle(const void *handle) {
  TVMFFIAny view{};
  view.v_obj = static_cast<TVMFFIObject *>(const_cast<void *>(handle));
  view.type_index = view.v_obj->type_index;
  return view;
}

Any call(const char *name, const TVMFFIAny *args, int32_t n_args) {
  TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle found;
  if (TVMFFIFunctionGetGlobal(&text, &found) != 0) raise_pending();
  if (found == nullptr) raise("RuntimeError", "Expected a global function ", name, " but there is none");
  ObjectRef function(found);
  TVMFFIAny result{};
  if (TVMFFIFunctionCall(found, const_cast<TVMFFIAny *>(args), n_args, &result) != 0) raise_pending();
  return Any(result);
}

[[noreturn]] static void raise_wrong(const char *name, const char *expected, const Any &value) {
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(value.view().type_index);
  raise("TypeError", name, expected, " but it returned ", type != nullptr ? type->type_key.data : "something else");
}

String to_text(const char *name, Any value) {
  switch (value.view().type_index) {
  case kTVMFFINone:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return String(value.release());
  default: raise_wrong(name, ": expected a str", value);
  }
}

ObjectRef to_object(const char *name, Any value) {
  int32_t type_index = value.view().type_index;
  if (type_index == kTVMFFINone) return ObjectRef(nullptr);
  if (type_index < kTVMFFIStaticObjectBegin) raise_wrong(name, ": expected an object", value);
  return ObjectRef(value.release().v_obj);
}

int64_t to_int(const char *name, const Any &value) {
  int32_t type_index = value.view().type_index;
  if (type_index != kTVMFFIInt && type_index != kTVMFFIBool) raise_wrong(name, ": expected an int", value);
  return value.view().v_int64;
}

void raise(const char *kind, const char *part, const char *part2, const char *part3, const char *part4) {
  const char *parts[] = {part, part2, part3, part4};
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, sizeof parts / sizeof *parts);
  raise_pending();
}

void raise_pending() {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "A function failed without saying why");
    TVMFFIErrorMoveFromRaised(&error);
  }
  throw Error(error);
}

} // namespace fx
