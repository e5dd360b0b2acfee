/* call.cc - calls global functions by name, and throws their errors. */
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

static const char *key_of(int32_t type_index) {
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(type_index);
  return type != nullptr ? type->type_key.data : "something else";
}

[[noreturn]] static void raise_wrong(const char *name, const char *expected, const Any &value) {
  raise("TypeError", "Expected ", expected, " from ", name, " but got ", key_of(value.view().type_index));
}

String to_text(const char *name, Any value) {
  switch (value.view().type_index) {
  case kTVMFFINone:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return String(value.release());
  default: raise_wrong(name, "str", value);
  }
}

ObjectRef to_object(const char *name, Any value, int32_t type_index) {
  if (value.view().type_index == kTVMFFINone) return ObjectRef(nullptr);
  if (value.view().type_index != type_index) raise_wrong(name, key_of(type_index), value);
  return ObjectRef(value.release().v_obj);
}

int64_t to_int(const char *name, const Any &value) {
  int32_t type_index = value.view().type_index;
  if (type_index != kTVMFFIInt && type_index != kTVMFFIBool) raise_wrong(name, "int", value);
  return value.view().v_int64;
}

void raise_parts(const char *kind, const char **parts, int32_t n_parts) {
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, n_parts);
  raise_pending();
}

void raise_pending() {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "A function failed without setting an error");
    TVMFFIErrorMoveFromRaised(&error);
  }
  throw Error(error);
}

} // namespace fx
