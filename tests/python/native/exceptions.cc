// Functions that throw C++ exceptions, and that catch errors by kind, for the tests of errors.
#include <tvm/ffi/tvm_ffi.h>

#include <any>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <variant>
#include <vector>

namespace shop {

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;

class Broken : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};
class SoldOut : public std::exception {
public:
  const char *what() const noexcept override { return "sold out"; }
};
class BadlySoldOut : public SoldOut {};
class VerySoldOut : public SoldOut {
public:
  const char *what() const noexcept override { return "very sold out"; }
};
class NoText : public std::out_of_range {
public:
  NoText() : std::out_of_range("") {}
  const char *what() const noexcept override { return nullptr; }
};
class Unspeakable : public std::exception { // its message throws
public:
  const char *what() const noexcept override { return "silence"; }
};
class Shared : public std::exception { // exceptions_other.cc defines this class, too
public:
  const char *what() const noexcept override { return "here"; }
};
struct Code { // not a std::exception
  int number;
};
template <typename A, typename B> class Mixed : public SoldOut {}; // its mangled name refers to parts of itself
using MixedCodes = Mixed<Code, Code>;

void Throw(const ffi::String &name) {
  std::string which = name;
  if (which == "out_of_range") throw std::out_of_range("why");
  if (which == "vector") std::vector<int>().at(3);
  if (which == "invalid_argument") throw std::invalid_argument("why");
  if (which == "stoi") (void)std::stoi("x");
  if (which == "domain_error") throw std::domain_error("why");
  if (which == "length_error") throw std::length_error("why");
  if (which == "range_error") throw std::range_error("why");
  if (which == "overflow_error") throw std::overflow_error("why");
  if (which == "bad_alloc") throw std::bad_alloc();
  if (which == "bad_array_new_length") throw std::bad_array_new_length();
  if (which == "bad_cast") throw std::bad_cast();
  if (which == "bad_any_cast") (void)std::any_cast<int>(std::any(1.5));
  if (which == "bad_variant_access") (void)std::get<int>(std::variant<int, double>(1.5));
  if (which == "system_error") throw std::system_error(ENOENT, std::generic_category(), "opening");
  if (which == "system_category") throw std::system_error(EACCES, std::system_category());
  if (which == "directory") (void)std::filesystem::directory_iterator("/no such [folder]");
  if (which == "rename") std::filesystem::rename("/nowhere/a", "/nowhere/b");
  if (which == "brackets") std::filesystem::rename("/no [where]/a", "/no [where]/\xff");
  if (which == "reason")
    throw std::filesystem::filesystem_error("in [it]", "/a", std::make_error_code(std::errc::io_error));
  if (which == "null") throw NoText();
  if (which == "ios") {
    std::ifstream file;
    file.exceptions(std::ios::failbit);
    file.open("/nowhere/file");
  }
  if (which == "bad_optional_access") (void)std::optional<int>().value();
  if (which == "bad_function_call") std::function<void()>()();
  if (which == "runtime_error") throw std::runtime_error("why");
  if (which == "underflow_error") throw std::underflow_error("why");
  if (which == "logic_error") throw std::logic_error("why");
  if (which == "broken") throw Broken("why");
  if (which == "int") throw 5;
  if (which == "text") throw "why";
  if (which == "string") throw std::string("why");
  if (which == "sold_out") throw SoldOut();
  if (which == "badly_sold_out") throw BadlySoldOut();
  if (which == "very_sold_out") throw VerySoldOut();
  if (which == "code") throw Code{7};
  if (which == "unspeakable") throw Unspeakable();
  if (which == "shared") throw Shared();
  if (which.compare(0, 3, "in ") != 0) return;
  try { /* throws the exception of a name in the one of another name: "in INNER OUTER" */
    Throw(which.substr(3, which.find(' ', 3) - 3));
  } catch (...) {
    std::string outer = which.substr(which.find(' ', 3) + 1);
    if (outer == "value") std::throw_with_nested(std::invalid_argument("outer"));
    if (outer == "file") std::throw_with_nested(std::system_error(ENOENT, std::generic_category(), "outer"));
    if (outer == "broken") std::throw_with_nested(Broken("outer"));
    if (outer == "very_sold_out") std::throw_with_nested(VerySoldOut());
    if (outer == "mixed") std::throw_with_nested(MixedCodes());
  }
}
void ThrowKind(const ffi::String &kind, const ffi::String &message) { throw ffi::Error(kind, message, ""); }
void ThrowOSError() { TVM_FFI_THROW(OSError) << "by macro"; }

/** A width, which must not be negative. */
struct Width {
  explicit Width(int64_t value) : value(value) {
    if (value < 0) throw std::domain_error("why");
  }
  int64_t value;
};

/** A class whose constructor, field, methods and callbacks throw. */
class DoorObj : public ffi::Object {
public:
  Width width{1};
  explicit DoorObj(const ffi::String &which) { Throw(which); }
  int64_t Open(const ffi::String &which) {
    Throw(which);
    return width.value;
  }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("shop.Door", DoorObj, ffi::Object);
};

/** The kind of the error of a callback, and the kinds of `all` that catch it. */
ffi::Array<ffi::Any> Catch(const ffi::Function &callback, const ffi::Array<ffi::String> &all) {
  ffi::Array<ffi::Any> seen;
  try {
    callback();
  } catch (const ffi::Error &error) {
    seen.push_back(ffi::String(error.kind()));
    for (const ffi::String &kind : all) {
      if (error.is_a(std::string_view(kind.data(), kind.size()))) seen.push_back(kind);
    }
  }
  return seen;
}

} // namespace shop

namespace tvm::ffi {
template <> inline constexpr bool use_default_type_traits_v<shop::Width> = false;
template <> struct TypeTraits<shop::Width> : TypeTraits<int64_t> {
  using Number = TypeTraits<int64_t>;
  static void CopyToAnyView(const shop::Width &width, TVMFFIAny *out) { Number::CopyToAnyView(width.value, out); }
  static void MoveToAny(shop::Width width, TVMFFIAny *out) { Number::MoveToAny(width.value, out); }
  static shop::Width CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return shop::Width(Number::CopyFromAnyViewAfterCheck(src));
  }
  static shop::Width MoveFromAnyAfterCheck(TVMFFIAny *src) { return shop::Width(Number::MoveFromAnyAfterCheck(src)); }
  static std::optional<shop::Width> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<int64_t> number = Number::TryCastFromAnyView(src);
    return number.has_value() ? std::optional<shop::Width>(shop::Width(*number)) : std::nullopt;
  }
};
} // namespace tvm::ffi

namespace shop {

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ErrorDef<VerySoldOut>("shop.VerySoldOut", "shop.SoldOut");
  refl::ErrorDef<MixedCodes>("shop.Mixed", "shop.SoldOut");
  refl::ErrorDef<SoldOut>("shop.SoldOut", "LookupError");
  refl::ErrorDef<Unspeakable>("shop.Unspeakable", "LookupError",
                              [](const Unspeakable &) -> std::string { throw std::out_of_range("no words"); });
  refl::ErrorDef<Shared>("shop.Shared", "LookupError");
  refl::ErrorDef<Code>("shop.Code", "OSError", [](const Code &code) { return std::to_string(code.number); });
  refl::ObjectDef<DoorObj>()
      .def(refl::init<ffi::String>())
      .def_rw("width", &DoorObj::width)
      .def("open", &DoorObj::Open)
      .def("__getitem__", &DoorObj::Open);
  refl::GlobalDef()
      .def("shop.throw", Throw)
      .def("shop.throw_kind", ThrowKind)
      .def("shop.throw_os_error", ThrowOSError)
      .def("shop.catch", Catch);
}

} // namespace shop
