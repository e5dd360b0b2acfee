// Fields that are declared as ints and have another memory layout: a type's author may define this in TypeTraits. Also
// a function that passes an empty view of bytes to a callback.
#include <tvm/ffi/any.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/reflection/registry.h>

#include <memory>
#include <optional>
#include <string>

namespace odd {
namespace ffi = tvm::ffi;

struct Boxed { // on the heap
  std::shared_ptr<int64_t> value = std::make_shared<int64_t>(7);
};
struct Level { // an index into a table
  int64_t place = 1;
};
constexpr int64_t LEVELS[] = {10, 20, 30};

inline int64_t shown(const Boxed &boxed) { return *boxed.value; }
inline int64_t shown(const Level &level) { return LEVELS[level.place]; }

template <typename T> struct ShownAsInt : public ffi::TypeTraitsBase {
  static constexpr int32_t field_static_type_index = kTVMFFIInt;
  static void CopyToAnyView(const T &value, TVMFFIAny *result) {
    ffi::TypeTraits<int64_t>::CopyToAnyView(shown(value), result);
  }
  static void MoveToAny(T value, TVMFFIAny *result) { CopyToAnyView(value, result); }
  static bool CheckAnyStrict(const TVMFFIAny *) { return false; }
  static std::optional<T> TryCastFromAnyView(const TVMFFIAny *) { return std::nullopt; }
  static std::string TypeStr() { return "int"; }
  static std::string TypeSchema() { return R"({"type":"int"})"; }
};
} // namespace odd

namespace tvm {
namespace ffi {
template <> inline constexpr bool use_default_type_traits_v<odd::Boxed> = false;
template <> inline constexpr bool use_default_type_traits_v<odd::Level> = false;
template <> struct TypeTraits<odd::Boxed> : public odd::ShownAsInt<odd::Boxed> {};
template <> struct TypeTraits<odd::Level> : public odd::ShownAsInt<odd::Level> {};
} // namespace ffi
} // namespace tvm

namespace odd {
class OddObj : public ffi::Object {
public:
  Boxed boxed;
  Level level;
  int64_t plain = 3;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.Odd", OddObj, ffi::Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = ffi::reflection;
  refl::ObjectDef<OddObj>()
      .def_ro("boxed", &OddObj::boxed)
      .def_ro("level", &OddObj::level)
      .def_ro("plain", &OddObj::plain);
}

ffi::ObjectRef make_odd() { return ffi::ObjectRef(ffi::make_object<OddObj>()); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_odd, make_odd);

ffi::Any give_no_bytes(ffi::Function callback) {
  TVMFFIByteArray nothing{nullptr, 0};
  TVMFFIAny view{}, result{};
  view.type_index = kTVMFFIByteArrayPtr;
  view.v_ptr = &nothing;
  TVM_FFI_CHECK_SAFE_CALL(
      TVMFFIFunctionCall(ffi::details::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(callback), &view, 1, &result));
  return ffi::details::AnyUnsafe::MoveTVMFFIAnyToAny(&result);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(give_no_bytes, give_no_bytes);
} // namespace odd
