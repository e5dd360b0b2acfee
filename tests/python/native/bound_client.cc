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
ffi::Any renamed(const ffi::ObjectRef &object, const ffi::String &name) {
  return refl::GetMethod(key_of(object), "renamed")(object, name);
}

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(get, get);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(set, set);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make, make);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(renamed, renamed);
