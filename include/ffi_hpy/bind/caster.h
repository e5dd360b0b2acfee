/* caster.h - how a C++ type is read from a value of Python, and made one. Programs include ffi_hpy/bind.h.
 *
 *   bool from(const TVMFFIAny &value, bool convert)   reads a value; false if it does not fit
 *   A get<A>()                                        the argument for a parameter of type A, after from()
 *   static owned to(T, rv_policy, const TVMFFIAny *parent)  makes a value of a result
 *   static std::string name()                         the type in Python's words
 *   static std::string schema()                       the type as JSON, for metadata */
#ifndef FFI_HPY_BIND_CASTER_H_
#define FFI_HPY_BIND_CASTER_H_

#include <ffi_hpy/bind/exception.h>

#include <limits>
#include <type_traits>

FFI_HPY_NAMESPACE_BEGIN

/** The ownership of a function's result, and the way in which it becomes a Python object. The values have nanobind's
 * meanings. */
enum class rv_policy {
  automatic,           /**< take_ownership for a pointer, move for a value, copy for a reference */
  automatic_reference, /**< as automatic, but reference for a pointer */
  take_ownership,      /**< Python deletes the object */
  copy,                /**< Python gets a copy */
  move,                /**< Python gets an object that the result is moved into */
  reference,           /**< Python refers to the object and does not own it */
  reference_internal,  /**< as reference, and the object of the method lives at least as long */
  none                 /**< the object must be known to Python already */
};

namespace detail {

template <typename T>
using plain = std::remove_cv_t<std::remove_reference_t<std::remove_pointer_t<std::remove_reference_t<T>>>>;

inline std::string named_schema(std::string_view name) {
  return std::string("{\"type\":\"").append(name).append("\"}");
}
/** A schema with arguments, each of which is a schema. */
inline std::string schema_of(std::string_view name, const std::string &args) {
  return std::string("{\"type\":\"").append(name).append("\",\"args\":[").append(args).append("]}");
}

/** The bytes of a str or, if is_bytes is true, of bytes. False for another value. */
inline bool read_text(const TVMFFIAny &value, bool is_bytes, std::string_view *out) {
  switch (value.type_index) {
  case kTVMFFIRawStr:
    if (is_bytes) return false;
    *out = value.v_c_str;
    return true;
  case kTVMFFISmallStr:
  case kTVMFFISmallBytes:
    if (is_bytes != (value.type_index == kTVMFFISmallBytes)) return false;
    *out = {value.v_bytes, value.small_str_len};
    return true;
  case kTVMFFIStr:
  case kTVMFFIBytes: {
    if (is_bytes != (value.type_index == kTVMFFIBytes)) return false;
    const TVMFFIByteArray *bytes = TVMFFIBytesGetByteArrayPtr(value.v_obj);
    *out = {bytes->data, bytes->size};
    return true;
  }
  case kTVMFFIByteArrayPtr: {
    if (!is_bytes) return false;
    const auto *bytes = static_cast<const TVMFFIByteArray *>(value.v_ptr);
    *out = {bytes->data, bytes->size};
    return true;
  }
  default: return false;
  }
}

/** Casts of values that are copied. */
template <typename T> struct value_caster {
  T value{};
  template <typename A> A get() {
    if constexpr (std::is_pointer_v<std::remove_reference_t<A>>) {
      return &value;
    } else if constexpr (std::is_lvalue_reference_v<A>) {
      return value;
    } else {
      return static_cast<A &&>(value);
    }
  }
};

} // namespace detail

/** The caster of a type. A class without one of its own must be bound with class_, an enum with enum_. */
template <typename T, typename = void> struct caster;

template <> struct caster<bool> : detail::value_caster<bool> {
  bool from(const TVMFFIAny &any, bool) {
    value = any.v_int64 != 0;
    return any.type_index == kTVMFFIBool;
  }
  static detail::owned to(bool value, rv_policy, const TVMFFIAny *) {
    return detail::owned(detail::word(kTVMFFIBool, value));
  }
  static std::string name() { return "bool"; }
  static std::string schema() { return detail::named_schema("bool"); }
};

template <typename T>
struct caster<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>>>
    : detail::value_caster<T> {
  bool from(const TVMFFIAny &any, bool) {
    if (any.type_index != kTVMFFIInt && any.type_index != kTVMFFIBool) return from_big(any);
    this->value = static_cast<T>(any.v_int64);
    if constexpr (sizeof(T) < 8) return static_cast<int64_t>(this->value) == any.v_int64;
    return std::is_signed_v<T> || any.v_int64 >= 0;
  }
  static detail::owned to(T value, rv_policy, const TVMFFIAny *) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (value > static_cast<T>(std::numeric_limits<int64_t>::max())) return big(value);
    }
    return detail::owned(detail::word(kTVMFFIInt, static_cast<int64_t>(value)));
  }
  static std::string name() { return "int"; }
  static std::string schema() { return detail::named_schema("int"); }

private:
  /* header, number of words, words */
  bool from_big(const TVMFFIAny &any) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (any.type_index != kTVMFFIBigInt) return false;
      const auto *words = reinterpret_cast<const uint64_t *>(any.v_obj + 1);
      this->value = words[1];
      return words[0] == 2 && words[2] == 0;
    }
    return false;
  }
  static FFI_HPY_COLD detail::owned big(T value) {
    uint64_t words[2] = {static_cast<uint64_t>(value), 0};
    return detail::ask_python("big_int", detail::owned(detail::word(kTVMFFIInt, static_cast<int64_t>(words[0]))));
  }
};

template <typename T> struct caster<T, std::enable_if_t<std::is_floating_point_v<T>>> : detail::value_caster<T> {
  bool from(const TVMFFIAny &any, bool convert) {
    if (any.type_index == kTVMFFIFloat) {
      this->value = static_cast<T>(any.v_float64);
      return true;
    }
    if (!convert || (any.type_index != kTVMFFIInt && any.type_index != kTVMFFIBool)) return false;
    this->value = static_cast<T>(any.v_int64);
    return true;
  }
  static detail::owned to(T value, rv_policy, const TVMFFIAny *) {
    TVMFFIAny any = detail::word(kTVMFFIFloat, 0);
    any.v_float64 = static_cast<double>(value);
    return detail::owned(any);
  }
  static std::string name() { return "float"; }
  static std::string schema() { return detail::named_schema("float"); }
};

namespace detail {
struct str_caster_base {
  static std::string name() { return "str"; }
  static std::string schema() { return named_schema("str"); }
};
} // namespace detail

template <> struct caster<std::string> : detail::value_caster<std::string>, detail::str_caster_base {
  bool from(const TVMFFIAny &any, bool) {
    std::string_view text;
    if (!detail::read_text(any, false, &text)) return false;
    value.assign(text.data(), text.size());
    return true;
  }
  static detail::owned to(std::string_view value, rv_policy, const TVMFFIAny *) { return detail::str_of(value); }
};

template <> struct caster<std::string_view> : detail::value_caster<std::string_view>, detail::str_caster_base {
  bool from(const TVMFFIAny &any, bool) { return detail::read_text(any, false, &value); }
  static detail::owned to(std::string_view value, rv_policy, const TVMFFIAny *) { return detail::str_of(value); }
};

/** `const char *`: null is None. A single `char` is a str of one character. */
template <> struct caster<char> : detail::str_caster_base {
  std::string text;
  bool is_null = false;
  bool from(const TVMFFIAny &any, bool) {
    std::string_view read;
    is_null = any.type_index == kTVMFFINone;
    if (!is_null && !detail::read_text(any, false, &read)) return false;
    text.assign(read.data(), read.size());
    return true;
  }
  template <typename A> A get() {
    if constexpr (std::is_pointer_v<std::remove_reference_t<A>>) {
      return is_null ? nullptr : text.c_str();
    } else {
      if (text.size() != 1) throw detail::next_overload();
      return text[0];
    }
  }
  static detail::owned to(const char *value, rv_policy, const TVMFFIAny *) {
    return value == nullptr ? detail::owned() : detail::str_of(value);
  }
  static detail::owned to(char value, rv_policy, const TVMFFIAny *) {
    return detail::str_of(std::string_view(&value, 1));
  }
};

/** Owned values of any type pass unchanged. */
template <> struct caster<detail::owned> : detail::value_caster<detail::owned> {
  bool from(const TVMFFIAny &any, bool) { return detail::api->own(&any, &value.value) == 0; }
  static detail::owned to(detail::owned value, rv_policy, const TVMFFIAny *) { return value; }
  static std::string name() { return "object"; }
  static std::string schema() { return detail::named_schema("Any"); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_CASTER_H_ */
