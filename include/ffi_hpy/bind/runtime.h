/* runtime.h - the core as a bound library sees it: values, errors, calls of Python. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_RUNTIME_H_
#define FFI_HPY_BIND_RUNTIME_H_

#include <ffi_hpy/c_bind.h>

#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
/** Everything of bind.h belongs to one library: two libraries may be compiled with different versions of it. */
#define FFI_HPY_NAMESPACE_BEGIN namespace ffi_hpy __attribute__((visibility("hidden"))) {
#define FFI_HPY_NOINLINE __attribute__((noinline))
#define FFI_HPY_COLD __attribute__((noinline, cold))
#else
#define FFI_HPY_NAMESPACE_BEGIN namespace ffi_hpy {
#define FFI_HPY_NOINLINE __declspec(noinline)
#define FFI_HPY_COLD __declspec(noinline)
#endif
#define FFI_HPY_NAMESPACE_END }

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The functions of the core; set when the library is imported. */
inline const ffi_hpy_bind_api *api = nullptr;

inline TVMFFIByteArray bytes_of(std::string_view text) { return TVMFFIByteArray{text.data(), text.size()}; }

inline bool is_object(const TVMFFIAny &value) { return value.type_index >= kTVMFFIStaticObjectBegin; }

inline TVMFFIAny none() {
  TVMFFIAny value;
  std::memset(static_cast<void *>(&value), 0, sizeof(value));
  return value;
}
inline TVMFFIAny word(int32_t type_index, int64_t payload) {
  TVMFFIAny value = none();
  value.type_index = type_index;
  value.v_int64 = payload;
  return value;
}
inline TVMFFIAny view_of(TVMFFIObjectHandle object) {
  TVMFFIAny value = none();
  if (object == nullptr) return value;
  value.type_index = TVMFFIObjectGetTypeIndex(object);
  value.v_obj = static_cast<TVMFFIObject *>(object);
  return value;
}

/** An owned value. */
class owned {
public:
  owned() : value(none()) {}
  explicit owned(TVMFFIAny taken) : value(taken) {}
  owned(owned &&other) noexcept : value(other.release()) {}
  owned &operator=(owned &&other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  owned(const owned &other) : value(other.value) {
    if (is_object(value)) add_ref(value.v_obj);
  }
  owned &operator=(const owned &) = delete;
  ~owned() {
    if (is_object(value)) api->dec_ref(value.v_obj);
  }
  /** Gives the reference to the caller. */
  TVMFFIAny release() {
    TVMFFIAny given = value;
    value = none();
    return given;
  }
  bool is_none() const { return value.type_index == kTVMFFINone; }

  static void add_ref(TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
    __atomic_fetch_add(&object->combined_ref_count, uint64_t{1}, __ATOMIC_RELAXED);
#else
    _InterlockedIncrement64(reinterpret_cast<volatile long long *>(&object->combined_ref_count));
#endif
  }

  TVMFFIAny value;
};

} // namespace detail

/** An error of Python or of another library, on its way through C++: the exception that a call of native code or of
 * Python throws. Python sees the original exception again. */
class python_error : public std::exception {
public:
  /** Takes the error that is pending on this thread. */
  python_error() {
    TVMFFIObjectHandle taken = nullptr;
    detail::api->take_error(&taken);
    error_ = detail::owned(detail::view_of(taken));
  }
  /** The kind and the message, such as "ValueError: too small". */
  FFI_HPY_COLD const char *what() const noexcept override {
    try {
      if (text_.empty() && !error_.is_none()) {
        const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error_.value.v_obj);
        text_.assign(cell->kind.data, cell->kind.size).append(": ").append(cell->message.data, cell->message.size);
      }
      return text_.c_str();
    } catch (...) {
      return "python_error";
    }
  }
  /** The kind of the error: the name of an exception class. */
  std::string_view kind() const {
    if (error_.is_none()) return {};
    const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error_.value.v_obj);
    return {cell->kind.data, cell->kind.size};
  }
  /** Makes the error the pending one of this thread again. */
  void restore() const { detail::api->set_error(error_.is_none() ? nullptr : error_.value.v_obj); }

private:
  detail::owned error_;
  mutable std::string text_;
};

namespace detail {

/** Throws the pending error if a function of the core failed. */
inline void check(int rc) {
  if (rc != 0) throw python_error();
}

inline owned str_of(std::string_view text) {
  owned made;
  TVMFFIByteArray bytes = bytes_of(text);
  check(api->new_str(&bytes, &made.value));
  return made;
}

/** Asks the package for an operation on Python's side: args are its name and its n - 1 arguments. */
inline owned ask_package(TVMFFIAny *args, size_t n) {
  TVMFFIByteArray name = bytes_of("ffi_hpy.bind");
  TVMFFIObjectHandle function = nullptr;
  check(api->get_global(&name, &function));
  owned kept(view_of(function));
  owned result;
  check(api->call(function, args, static_cast<int32_t>(n), &result.value));
  return result;
}
template <typename... Values> owned ask_python(std::string_view operation, const Values &...values) {
  owned name = str_of(operation);
  TVMFFIAny args[] = {name.value, values.value...};
  return ask_package(args, 1 + sizeof...(Values));
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_RUNTIME_H_ */
