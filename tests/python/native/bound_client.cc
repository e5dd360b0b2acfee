/* A library of the headers tvm/ffi, which knows of bound classes only the names in the registry. */
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;
namespace refl = ffi::reflection;

namespace {

std::string key_of(const ffi::ObjectRef &object) { return object->GetTypeKey(); }

ffi::Any get(const ffi::ObjectRef &object, const ffi::String &field) {
  return refl::FieldGetter(key_of(object), field.c_str())(object);
}
void set(const ffi::ObjectRef &object, const ffi::String &field, const ffi::Any &value) {
  refl::FieldSetter(key_of(object), field.c_str())(object, value);
}
ffi::Any make(const ffi::String &key, const ffi::String &name) {
  int32_t index;
  TVMFFIByteArray bytes{key.data(), key.size()};
  TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeKeyToIndex(&bytes, &index));
  return refl::TypeAttrColumn("__ffi_init__")[index].cast<ffi::Function>()(name);
}
/* The types and values of the containers in a result, as this library sees them. */
std::string form_of(const ffi::Any &value) {
  if (auto array = value.as<ffi::Array<ffi::Any>>()) {
    std::string text;
    for (const ffi::Any &item : *array) text += (text.empty() ? "" : ", ") + form_of(item);
    return "Array(" + text + ")";
  }
  if (auto map = value.as<ffi::Map<ffi::Any, ffi::Any>>()) {
    std::string text;
    for (const auto &[key, item] : *map) text += (text.empty() ? "" : ", ") + form_of(key) + ": " + form_of(item);
    return "Map(" + text + ")";
  }
  if (auto text = value.as<ffi::String>()) return *text;
  if (auto number = value.as<int64_t>()) return std::to_string(*number);
  return value.GetTypeKey();
}
ffi::String form_of_result(const ffi::Function &function) { return form_of(function()); }
ffi::String form_of_field(const ffi::ObjectRef &object, const ffi::String &field) {
  return form_of(get(object, field));
}
ffi::Any result_of(const ffi::Function &function) { return function(); }
ffi::Any renamed(const ffi::ObjectRef &object, const ffi::String &name) {
  return refl::GetMethod(key_of(object), "renamed")(object, name);
}

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(get, get);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(set, set);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make, make);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(renamed, renamed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(form_of_result, form_of_result);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(form_of_field, form_of_field);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(result_of, result_of);
