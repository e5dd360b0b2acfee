/* caster.h - how a C++ type is read from a value of Python, and made one. Programs include ffi_hpy/bind.h.
 *
 * A type has the caster detail::type_caster<T>. Authors specialise it for their own types:
 *
 *   template <> struct ffi_hpy::detail::type_caster<Celsius> {
 *     FFI_HPY_TYPE_CASTER(Celsius, const_name("float"))
 *     bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept;         // sets `value`
 *     static handle from_cpp(Celsius source, rv_policy policy, cleanup_list *cleanup) noexcept;  // a new reference
 *   };
 *
 * from_python returns false for a value that does not fit, without a pending error. from_cpp returns an empty handle
 * with a pending error if it fails. */
#ifndef FFI_HPY_BIND_CASTER_H_
#define FFI_HPY_BIND_CASTER_H_

#include <ffi_hpy/bind/descr.h>
#include <ffi_hpy/bind/exception.h>
#include <ffi_hpy/bind/item_list.h>

#include <utility>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

class cleanup_list;

template <bool B> using enable_if_t = std::enable_if_t<B, int>;

/** T without const, references and pointers. */
template <typename T>
using intrinsic_t = std::remove_cv_t<std::remove_reference_t<std::remove_pointer_t<std::remove_reference_t<T>>>>;

/** The caster of a type. Without a specialisation, T is a class that is bound with class_. */
template <typename T, typename = int> struct type_caster;
template <typename T> using make_caster = type_caster<intrinsic_t<T>>;

/** The type that a caster produces for a parameter of type T. */
template <typename T> using cast_t = typename make_caster<T>::template Cast<T>;

/** Casts of a caster that has the value itself, which can be moved out of it. */
template <typename T>
using movable_cast_t =
    std::conditional_t<std::is_pointer_v<std::remove_reference_t<T>>, intrinsic_t<T> *,
                       std::conditional_t<std::is_lvalue_reference_v<T>, intrinsic_t<T> &, intrinsic_t<T> &&>>;
/** Casts of a caster that has a pointer to the value. */
template <typename T>
using precise_cast_t =
    std::conditional_t<std::is_pointer_v<std::remove_reference_t<T>>, intrinsic_t<T> *,
                       std::conditional_t<std::is_rvalue_reference_v<T>, intrinsic_t<T> &&, intrinsic_t<T> &>>;

/** Whether None is a value of a parameter of type T, without arg::none(). */
template <typename T> struct has_arg_defaults : std::false_type {};
template <typename T> inline constexpr bool has_arg_defaults_v = has_arg_defaults<intrinsic_t<T>>::value;
/** Whether None stands for an empty T inside of a container and as the result of a callable: T is a smart pointer or a
 * std::function. */
template <typename T> struct may_be_empty : std::false_type {};

/** The casters of types whose arguments may arrive as native values: a list as an Array. A caster without this base
 * gets the objects of Python themselves. */
struct native_caster {
  static constexpr bool takes_python = false;
};
template <typename Caster, typename = void> struct takes_python_of : std::true_type {};
template <typename Caster>
struct takes_python_of<Caster, std::void_t<decltype(Caster::takes_python)>> : std::bool_constant<Caster::takes_python> {
};
/** The base of the caster of bound enums. */
struct enum_caster {};
template <typename Caster> inline constexpr bool is_enum_caster_v = std::is_base_of_v<enum_caster, Caster>;
template <typename T> inline constexpr bool takes_python_v = takes_python_of<make_caster<T>>::value;
/** Whether C++ gets the result of a function of Python as the Python object itself: a list, not an Array. */
template <typename R> constexpr bool takes_python_result() {
  if constexpr (std::is_void_v<R>) {
    return false;
  } else {
    return takes_python_v<intrinsic_t<R>>;
  }
}
template <typename R> inline constexpr bool takes_python_result_v = takes_python_result<R>();

/** The casters that ignore the cleanup_list: a function of such types only has none. A caster that derives from one of
 * them may use it. */
template <typename Caster> struct plain_caster : native_caster {};
template <typename T>
inline constexpr bool is_plain_v = std::is_base_of_v<plain_caster<make_caster<T>>, make_caster<T>>;

/** Whether a caster neither keeps a str, list or tuple, nor an item of it, nor passes it to Python: the memory of the
 * argument ends with the call. Borrows is the caster itself, but not in a class that derives from it. */
template <typename Caster, typename = void> inline constexpr bool borrows_v = false;
template <typename Caster>
inline constexpr bool borrows_v<Caster, std::void_t<typename Caster::Borrows>> =
    std::is_same_v<typename Caster::Borrows, Caster>;
/** The type Borrows of the caster of a container of T. */
template <typename Caster, typename... T>
using borrows_with = std::conditional_t<(borrows_v<make_caster<T>> && ...), Caster, void>;

/** Whether a caster reads an argument where it is, by `load(any, flags, cleanup)`, and refuses None: a copy of the
 * argument for each thunk makes thunks long. InPlace is the caster itself, but not in a class that derives from it. */
template <typename Caster, typename = void> inline constexpr bool loads_in_place_v = false;
template <typename Caster>
inline constexpr bool loads_in_place_v<Caster, std::void_t<typename Caster::InPlace>> =
    std::is_same_v<typename Caster::InPlace, Caster>;

/** Whether a caster can make values of Python for the caller of a function, by `static handle make(source, policy,
 * cleanup, python_values)`, which with NULL does the same as from_cpp. MakesPython is the caster itself, but not in a
 * class that derives from it. */
template <typename Caster, typename = void> inline constexpr bool makes_python_v = false;
template <typename Caster>
inline constexpr bool makes_python_v<Caster, std::void_t<typename Caster::MakesPython>> =
    std::is_same_v<typename Caster::MakesPython, Caster>;
/** Makes a value for the caller of a function. */
template <typename T, typename U>
handle make_value(U &&source, rv_policy policy, cleanup_list *cleanup, [[maybe_unused]] python_values python) {
  if constexpr (makes_python_v<make_caster<T>> && !std::is_pointer_v<std::remove_reference_t<U>>) {
    return make_caster<T>::make(std::forward<U>(source), policy, cleanup, python);
  } else {
    return make_caster<T>::from_cpp(std::forward<U>(source), policy, cleanup);
  }
}

/** Flags of a conversion. */
struct cast_flags {
  enum : uint32_t {
    convert = kFfiHpyCastConvert,         /**< the value may be converted */
    construct = kFfiHpyCastConstruct,     /**< the value is an argument of a constructor */
    accepts_none = kFfiHpyCastAcceptsNone, /**< None is a null pointer */
    manual = kFfiHpyCastManual            /**< the value is not an argument: cast<T>() */
  };
};

/** Objects that live until the function returns, because its arguments refer to them. */
class cleanup_list {
public:
  /** `self`: the first argument of the function, which lives longer than the list; NULL if there is none. */
  explicit cleanup_list(const TVMFFIAny *self = nullptr) : self_(self) {}
  cleanup_list(const cleanup_list &) = delete;
  cleanup_list &operator=(const cleanup_list &) = delete;
  ~cleanup_list() {
    if (state_ != 0) in_module->release_all(this);
  }
  /** The first argument of the function: the object of a method. */
  handle self() const { return self_ != nullptr ? handle(*self_) : handle(); }
  /** The function has no arguments. */
  void end_self() { self_ = nullptr; }
  /** Takes a reference. */
  void append(handle owned) {
    if (state_ < kSmall) {
      small_[state_++] = owned.any();
    } else {
      in_module->append_more(this, owned);
    }
  }
  bool used() const { return state_ != 0; }
  /** Keeps an error of Python that ended a conversion. */
  FFI_HPY_COLD void fail(python_error &&error) noexcept {
    try {
      if (more().error == nullptr) more().error = new python_error(std::move(error));
    } catch (...) { /* no memory: the arguments do not fit */
    }
  }
  /** The result of a call whose arguments do not fit: a kept error is pending then. `param`: the number of the
   * parameter that refuses its argument, from 1 on. */
  int refuse(size_t param) const { return refusal(state_ > kSmall ? raise_kept() : FFI_HPY_NEXT_OVERLOAD, param); }
  static int refusal(int rc, size_t param) {
    return rc < 0 ? rc : rc | static_cast<int>(param << FFI_HPY_REFUSED_SHIFT);
  }
  /** Makes an error that ended a conversion pending. The error says why an argument does not fit, except for an error
   * that ends the program. */
  FFI_HPY_COLD static int raise_unreadable(const python_error &error) {
    error.restore();
    std::string_view kind = error.kind();
    bool ends = kind == "KeyboardInterrupt" || kind == "SystemExit" || kind == "MemoryError";
    return ends ? -1 : FFI_HPY_UNREADABLE;
  }
  /** Replaces the list of a function of plain types only. An error that ends a conversion remains pending then. */
  static cleanup_list *none() { return static_cast<cleanup_list *>(static_cast<void *>(&none_)); }
  /** Notes that an error of a conversion without a list is pending. */
  static void fail_without_list() noexcept { has_failed_ = true; }
  /** As refuse(), for a call without a list. */
  FFI_HPY_COLD static int refuse_without_list(size_t param) {
    if (!std::exchange(has_failed_, false)) return refusal(FFI_HPY_NEXT_OVERLOAD, param);
    return refusal(raise_unreadable(python_error()), param);
  }

private:
  friend void append_more_in_module(cleanup_list *list, handle owned);
  friend void release_all_in_module(cleanup_list *list);

  /* The number of small objects, plus kMore once `more_` exists. */
  enum : size_t { kSmall = 3, kMore = 8 };
  struct rest {
    item_list<object> objects;
    python_error *error = nullptr;
    ~rest() { delete error; }
  };

  FFI_HPY_COLD rest &more() {
    if (state_ < kMore) {
      more_ = new rest;
      state_ += kMore;
    }
    return *more_;
  }
  FFI_HPY_COLD int raise_kept() const {
    return more_->error == nullptr ? FFI_HPY_NEXT_OVERLOAD : raise_unreadable(*more_->error);
  }
  void release() {
    for (size_t i = 0; i < state_ % kMore; ++i) handle(small_[i]).dec_ref();
    if (state_ >= kMore) delete more_;
  }

  static inline char none_ = 0; /* no list has this address */
  static inline thread_local bool has_failed_ = false;
  const TVMFFIAny *self_;
  size_t state_ = 0;
  TVMFFIAny small_[kSmall];
  rest *more_;
};
FFI_HPY_COLD inline void append_more_in_module(cleanup_list *list, handle owned) {
  object kept = steal(owned);
  list->more().objects.add(std::move(kept));
}
FFI_HPY_NOINLINE inline void release_all_in_module(cleanup_list *list) { list->release(); }

/** The flags for a value inside of a container: None is accepted for pointers. */
template <typename T> constexpr uint32_t flags_for_local_caster(uint32_t flags) {
  constexpr bool accepts = std::is_pointer_v<T> || may_be_empty<intrinsic_t<T>>::value || has_arg_defaults_v<T>;
  return accepts ? flags | cast_flags::accepts_none : flags & ~uint32_t{cast_flags::accepts_none};
}

/** Runs a function that returns an object. If it throws, the error is pending and the result is an empty handle. */
template <typename F> handle guarded(F &&make) noexcept {
  try {
    return make().release();
  } catch (...) {
    (void)translate_exception();
    return handle();
  }
}

/** The result of from_python in a handler of an exception. An error of Python is kept for the call. */
inline bool conversion_failed(cleanup_list *cleanup) noexcept { return in_module->conversion_failed(cleanup); }
FFI_HPY_COLD inline bool conversion_failed_in_module(cleanup_list *cleanup) noexcept {
  if (translate_exception() != -1) return false;
  if (cleanup == cleanup_list::none()) return cleanup_list::fail_without_list(), false;
  python_error error;
  if (cleanup != nullptr) cleanup->fail(std::move(error));
  return false;
}

FFI_HPY_COLD inline void throw_pending_in_module() {
  python_error error;
  if (error.kind().empty()) throw cast_error();
  if (refused_error::is(error)) throw refused_error(std::move(error));
  throw error;
}
/** An object from a reference that from_cpp returned. Throws the pending error if it is empty, or else cast_error. */
inline object checked(handle made) {
  if (!made.is_valid()) in_module->throw_pending();
  return steal(made);
}

/** Members of a caster with the member `value`, which from_python sets. Names such as `list[int]` may contain commas:
 * the text of the type is the last argument. */
#define FFI_HPY_TYPE_CASTER(Type, ...)                                                                        \
  using Value = Type;                                                                                         \
  static constexpr auto Name = __VA_ARGS__;                                                                   \
  template <typename T_> using Cast = ::FFI_HPY_BIND_NAMESPACE::detail::movable_cast_t<T_>;                   \
  template <typename T_> static constexpr bool can_cast() { return true; }                                    \
  template <typename T_, std::enable_if_t<std::is_same_v<std::remove_cv_t<T_>, Value>, int> = 0>              \
  static ::FFI_HPY_BIND_NAMESPACE::handle from_cpp(T_ *source, ::FFI_HPY_BIND_NAMESPACE::rv_policy policy,    \
                                                   ::FFI_HPY_BIND_NAMESPACE::detail::cleanup_list *cleanup) { \
    if (source == nullptr) {                                                                                  \
      return ::FFI_HPY_BIND_NAMESPACE::handle(::FFI_HPY_BIND_NAMESPACE::detail::none_value());                \
    }                                                                                                         \
    return from_cpp(*source, policy, cleanup);                                                                \
  }                                                                                                           \
  explicit operator Value *() { return &value; }                                                              \
  explicit operator Value &() { return value; }                                                               \
  explicit operator Value &&() { return static_cast<Value &&>(value); }                                       \
  Value value

/* ---- Values of one word ---- */

template <> struct type_caster<bool> : plain_caster<type_caster<bool>> {
  FFI_HPY_TYPE_CASTER(bool, const_name("bool"));
  using InPlace = type_caster;
  using Borrows = type_caster;
  bool load(const TVMFFIAny *any, uint32_t, cleanup_list *) noexcept {
    value = any->v_int64 != 0;
    return any->type_index == kTVMFFIBool;
  }
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    return load(&source.any(), flags, cleanup);
  }
  static handle from_cpp(bool source, rv_policy, cleanup_list *) noexcept { return handle(word(kTVMFFIBool, source)); }
};

/** The number of an object, from Python: a new reference. If its method raises, the error is kept for the call. */
FFI_HPY_COLD inline handle ask_for_number_in_module(operation what, handle source, cleanup_list *cleanup) noexcept {
  try {
    return ask_python(what, source).release();
  } catch (...) {
    conversion_failed(cleanup);
    return handle();
  }
}

/** Whether Python may have a number for an object. Python has none for a text or an array, which may end with the call,
 * nor for an object without a class, such as the mark of an omitted argument. */
inline bool may_be_number(const TVMFFIAny &any) noexcept {
  int32_t index = any.type_index;
  return is_object(any) && index != kTVMFFIStr && index != kTVMFFIArray && index != kTVMFFIObject;
}

template <typename T>
inline constexpr bool is_std_char_v =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

template <typename T>
struct type_caster<T, enable_if_t<std::is_integral_v<T> && !is_std_char_v<T>>> : plain_caster<type_caster<T>> {
  FFI_HPY_TYPE_CASTER(T, const_name("int"));
  using InPlace = type_caster;
  using Borrows = type_caster;
  bool load(const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (any->type_index != kTVMFFIInt) {
      bool is_bool = any->type_index == kTVMFFIBool && (flags & cast_flags::convert) != 0;
      if (!is_bool) return from_other(any, flags, cleanup);
    }
    value = static_cast<T>(any->v_int64);
    if constexpr (sizeof(T) < 8) return static_cast<int64_t>(value) == any->v_int64;
    return std::is_signed_v<T> || any->v_int64 >= 0;
  }
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    return load(&source.any(), flags, cleanup);
  }
  static handle from_cpp(T source, rv_policy, cleanup_list *) noexcept {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (source > static_cast<T>(INT64_MAX)) return from_big(source);
    }
    return handle(word(kTVMFFIInt, static_cast<int64_t>(source)));
  }

private:
  /* An int of more than 63 bits, or an object with __index__. */
  FFI_HPY_COLD bool from_other(const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (any->type_index == kTVMFFIBigInt) {
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
        /* header, number of words, words */
        const auto *words = reinterpret_cast<const uint64_t *>(any->v_obj + 1);
        value = static_cast<T>(words[1]);
        return words[0] == 2 && words[2] == 0;
      }
      return false;
    }
    if ((flags & cast_flags::convert) == 0 || !may_be_number(*any)) return false;
    handle number = in_module->ask_for_number("index", handle(*any), cleanup);
    bool fits = !number.is_none() && from_python(number, 0, nullptr);
    number.dec_ref();
    return fits;
  }
  static FFI_HPY_COLD handle from_big(T source) noexcept {
    return guarded([&] { return ask_python(kFfiHpyRunBigInt, int_value(static_cast<int64_t>(source))); });
  }
};

template <typename T> struct type_caster<T, enable_if_t<std::is_floating_point_v<T>>> : plain_caster<type_caster<T>> {
  FFI_HPY_TYPE_CASTER(T, const_name("float"));
  using InPlace = type_caster;
  using Borrows = type_caster;
  bool load(const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (any->type_index != kTVMFFIFloat) return from_other(any, flags, cleanup);
    value = static_cast<T>(any->v_float64);
    if constexpr (sizeof(T) >= 8) return true;
    if (static_cast<double>(value) == any->v_float64 || value != value) return true;
    return (flags & cast_flags::convert) != 0 && value - value == 0; /* a finite number */
  }
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    return load(&source.any(), flags, cleanup);
  }
  static handle from_cpp(T source, rv_policy, cleanup_list *) noexcept {
    TVMFFIAny any = word(kTVMFFIFloat, 0);
    any.v_float64 = static_cast<double>(source);
    return handle(any);
  }

private:
  /* An int, or an object with __float__ or __index__. */
  FFI_HPY_NOINLINE bool from_other(const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept {
    if ((flags & cast_flags::convert) == 0) return false;
    if (any->type_index == kTVMFFIInt || any->type_index == kTVMFFIBool) {
      value = static_cast<T>(any->v_int64);
      return true;
    }
    if (!may_be_number(*any)) return false;
    handle number = in_module->ask_for_number(kFfiHpyRunToFloat, handle(*any), cleanup);
    bool is_number = number.any().type_index == kTVMFFIFloat && from_python(number, cast_flags::convert, nullptr);
    number.dec_ref();
    return is_number;
  }
};

template <> struct type_caster<std::nullptr_t> : plain_caster<type_caster<std::nullptr_t>> {
  FFI_HPY_TYPE_CASTER(std::nullptr_t, const_name("None"));
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept { return source.is_none(); }
  static handle from_cpp(std::nullptr_t, rv_policy, cleanup_list *) noexcept { return handle(none_value()); }
};
template <> struct has_arg_defaults<std::nullptr_t> : std::true_type {};

/** A result of type void. */
struct void_type {};
template <> struct type_caster<void_type> {
  static constexpr auto Name = const_name("None");
};

/** An address as a value, which Python sees as a ctypes.c_void_p; None for a null pointer. */
inline handle address_value(const void *address) noexcept {
  if (address == nullptr) return handle(none_value());
  TVMFFIAny any = word(kTVMFFIOpaquePtr, 0);
  any.v_ptr = const_cast<void *>(address);
  return handle(any);
}
/** Reads such a value. */
inline bool read_address(handle source, void **address) noexcept {
  *address = source.is_none() ? nullptr : source.any().v_ptr;
  return source.is_none() || source.any().type_index == kTVMFFIOpaquePtr;
}

/** `void *`: an address. In nanobind's namespace its values are capsules with the name nb_handle, as nanobind's are. */
template <> struct type_caster<void> : native_caster {
#if defined(FFI_HPY_BIND_PY_OBJECT)
  static constexpr auto Name = const_name("typing_extensions.CapsuleType");
#else
  static constexpr auto Name = const_name("object");
#endif
  template <typename T_> using Cast = void *;
  template <typename T_> static constexpr bool can_cast() { return true; }
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    if (read_address(source, &value)) return true;
#if defined(FFI_HPY_BIND_PY_OBJECT)
    if (source.any().type_index != kTVMFFIOpaquePyObject) return false;
    handle address = guarded([&] { return ask_python("capsule_address", source, str_of("nb_handle")); });
    if (!address.is_valid()) python_error dropped;
    return address.is_valid() && !address.is_none() && read_address(address, &value);
#else
    return false;
#endif
  }
  static handle from_cpp(const void *source, rv_policy, cleanup_list *) noexcept {
#if defined(FFI_HPY_BIND_PY_OBJECT)
    if (source == nullptr) return handle(none_value());
    return guarded([&] {
      return ask_python(kFfiHpyRunCapsule, address_value(source), str_of("nb_handle"), handle(none_value()));
    });
#else
    return address_value(source);
#endif
  }
  explicit operator void *() { return value; }
  void *value;
};

/* ---- Strings ---- */

inline handle text_from_cpp(std::string_view source, python_values python = nullptr) noexcept {
  return in_module->text_from_cpp(source, python);
}
FFI_HPY_NOINLINE inline handle text_from_cpp_in_module(std::string_view source, python_values python) noexcept {
  if (python == nullptr) return guarded([&] { return str_of(source); });
  TVMFFIByteArray text = bytes_of(source);
  TVMFFIAny made = none_value();
  return python->new_str(&text, &made) == 0 ? handle(made) : handle();
}

/** Reads a text. Inside of each thunk it would be most of the thunk. */
FFI_HPY_NOINLINE inline bool read_string(const TVMFFIAny &any, std::string *out) noexcept {
  std::string_view text;
  if (!read_text(any, false, &text)) return false;
  out->~basic_string(); /* cheaper than assign() */
  new (out) std::string(text);
  return true;
}

template <> struct type_caster<std::string> : plain_caster<type_caster<std::string>> {
  FFI_HPY_TYPE_CASTER(std::string, const_name("str"));
  using InPlace = type_caster;
  using Borrows = type_caster;
  bool load(const TVMFFIAny *any, uint32_t, cleanup_list *) noexcept { return read_string(*any, &value); }
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept { return read_string(source.any(), &value); }
  static handle from_cpp(std::string_view source, rv_policy, cleanup_list *) noexcept { return text_from_cpp(source); }
  using MakesPython = type_caster;
  static handle make(std::string_view source, rv_policy, cleanup_list *, python_values python) noexcept {
    return text_from_cpp(source, python);
  }
};

/** The bytes of a short str, whose handle ends before the function runs. */
class short_text {
public:
  const char *copy(std::string_view text) noexcept {
    std::memcpy(bytes_, text.data(), text.size());
    bytes_[text.size()] = '\0';
    return bytes_;
  }
  /** Moves the bytes from the caster to an object that lives until the function returns. *text points at them before
   * and afterwards. */
  bool outlive(const char **text, cleanup_list *cleanup) noexcept {
    return *text != bytes_ || keep(text, sizeof(bytes_), cleanup);
  }
  /** Copies a text to an object that lives until the function returns. */
  static bool keep(const char **text, size_t size, cleanup_list *cleanup) noexcept {
    return in_module->keep_text(text, size, cleanup);
  }
  enum : size_t { kRoom = 8 }; /**< a text with a zero at its end is shorter, or is not in the handle */

private:
  char bytes_[kRoom] = {};
};
FFI_HPY_NOINLINE inline bool keep_text_in_module(const char **text, size_t size, cleanup_list *cleanup) noexcept {
  if (cleanup == nullptr) return false;
  handle kept = guarded([&] {
    std::string copy(*text, size);
    copy.resize(size + short_text::kRoom); /* so long that it is not short */
    return str_of(copy);
  });
  if (!kept.is_valid()) python_error dropped;
  std::string_view bytes;
  if (!kept.is_valid() || !read_text(kept.any(), false, &bytes)) return false;
  cleanup->append(kept);
  *text = bytes.data();
  return true;
}

template <> struct type_caster<std::string_view> : native_caster {
  FFI_HPY_TYPE_CASTER(std::string_view, const_name("str"));
  using Borrows = type_caster;
  bool from_python(handle source, uint32_t, cleanup_list *cleanup) noexcept {
    if (!read_text(source.any(), false, &value)) return false;
    if (source.any().type_index == kTVMFFISmallStr) value = {short_.copy(value), value.size()};
    const char *text = value.data();
    if (source.any().type_index != kTVMFFIOpaquePyObject) return true;
    bool is_kept = short_text::keep(&text, value.size(), cleanup);
    value = {text, value.size()};
    return is_kept;
  }
  static handle from_cpp(std::string_view source, rv_policy, cleanup_list *) noexcept { return text_from_cpp(source); }
  using MakesPython = type_caster;
  static handle make(std::string_view source, rv_policy, cleanup_list *, python_values python) noexcept {
    return text_from_cpp(source, python);
  }
  bool outlive(cleanup_list *cleanup) noexcept {
    const char *text = value.data();
    if (!short_.outlive(&text, cleanup)) return false;
    value = {text, value.size()};
    return true;
  }

private:
  short_text short_;
};

/** `const char *`, and `char`: a str of one character. */
template <> struct type_caster<char> : native_caster {
  using Value = const char *;
  using Borrows = type_caster;
  static constexpr auto Name = const_name("str");
  template <typename T_> using Cast = std::conditional_t<std::is_pointer_v<T_>, const char *, char>;

  FFI_HPY_NOINLINE bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (source.is_none()) return (flags & cast_flags::accepts_none) != 0;
    std::string_view text;
    if (!read_text(source.any(), false, &text)) return false;
    size_ = text.size();
    value = text.data();
    if (source.any().type_index == kTVMFFISmallStr) value = short_.copy(text);
    return source.any().type_index != kTVMFFIOpaquePyObject || short_text::keep(&value, size_, cleanup);
  }
  static handle from_cpp(const char *source, rv_policy, cleanup_list *) noexcept {
    return source == nullptr ? handle(none_value()) : text_from_cpp(source);
  }
  static handle from_cpp(char source, rv_policy, cleanup_list *) noexcept {
    return text_from_cpp(std::string_view(&source, 1));
  }
  template <typename T_> bool can_cast() const { return std::is_pointer_v<T_> || size_ == 1; }
  bool outlive(cleanup_list *cleanup) noexcept { return short_.outlive(&value, cleanup); }
  explicit operator const char *() { return value; }
  explicit operator char() {
    if (size_ != 1) throw next_overload();
    return value[0];
  }

  const char *value = nullptr;

private:
  size_t size_ = 0;
  short_text short_;
};

} // namespace detail

/* ---- Casts in other casters ---- */

namespace detail {

/** Whether a T is a text in memory that belongs to another object. */
template <typename T>
inline constexpr bool is_text_view_v = std::is_same_v<std::remove_cv_t<T>, std::string_view> ||
                                       (std::is_pointer_v<T> && std::is_same_v<intrinsic_t<T>, char>);
/** Whether a T is or contains such a text. */
template <typename T> inline constexpr bool views_text_v = is_text_view_v<T>;
template <template <typename...> class C, typename... Ts>
inline constexpr bool views_text_v<C<Ts...>> = (is_text_view_v<C<Ts...>> || ... || views_text_v<Ts>);
template <template <typename, size_t> class C, typename T, size_t N>
inline constexpr bool views_text_v<C<T, N>> = views_text_v<T>;

/** Reads a value inside of a container with a caster that ends before the function runs. */
template <typename T>
bool read_inner(make_caster<T> *caster, const handle &source, uint32_t flags, cleanup_list *cleanup) {
  if (!caster->from_python(source, flags_for_local_caster<T>(flags), cleanup) || !caster->template can_cast<T>()) {
    return false;
  }
  if constexpr (is_text_view_v<T>) {
    return caster->outlive(cleanup);
  } else {
    return true;
  }
}

} // namespace detail

/* ---- Casts by hand ---- */

namespace detail {

[[noreturn]] FFI_HPY_COLD inline void throw_cast_error() { throw cast_error(); }

/** The handle of a value; for an accessor, the handle of the value that it has read. */
inline const handle &stored(const handle &value) { return value; }
template <typename Accessor> const handle &stored(const Accessor &value) { return value.get(); }

/** Whether a value may refer to objects that a conversion has made, which end before it. */
template <typename T>
inline constexpr bool refers_v = std::is_pointer_v<T> || std::is_reference_v<T> || views_text_v<T>;
template <template <typename...> class C, typename... Ts>
inline constexpr bool refers_v<C<Ts...>> = (views_text_v<C<Ts...>> || ... || refers_v<Ts>);

struct class_caster_tag;
/** Whether T is a bound class, by its caster. */
template <typename Caster> inline constexpr bool is_base_caster_v = std::is_base_of_v<class_caster_tag, Caster>;
/** A cast by hand to T is possible: the result does not refer to the caster. */
template <typename T> constexpr bool check_cast() {
  constexpr bool is_possible = (!std::is_pointer_v<T> && !std::is_reference_v<T>) || std::is_void_v<intrinsic_t<T>> ||
                               is_base_caster_v<make_caster<T>>;
  static_assert(is_possible, "a cast to a reference or a pointer needs a bound class; other values end with the cast");
  return is_possible;
}
/** Reads a text, which is in the handle or in the object of Python. */
template <typename T> bool read_view(const handle &source, T *out) {
  static_assert(is_text_view_v<T>);
  std::string_view text;
  if (!source.is_valid() || !((std::is_pointer_v<T> && source.is_none()) || read_text(source.any(), false, &text))) {
    return false;
  }
  if constexpr (std::is_pointer_v<T>) {
    *out = text.data();
  } else {
    *out = text;
  }
  return true;
}

/** Copies a short text, which is inside of a handle, because the handle may end first. The copy is valid until the
 * thread has read 256 further texts. */
template <typename T> void outlive_handle(const handle &source, T *text) noexcept {
  if (source.any().type_index != kTVMFFISmallStr) return;
  thread_local char kept[256][8];
  thread_local unsigned next = 0;
  char *place = kept[next++ % 256];
  std::memcpy(place, source.any().v_bytes, 8);
  if constexpr (std::is_pointer_v<T>) {
    *text = place;
  } else {
    *text = {place, text->size()};
  }
}

/** A text that Python has returned, and may release at once: it stays until the next one of the thread. */
inline std::string_view last_text(std::string_view text) {
  static thread_local std::string last;
  last = text;
  return last;
}
inline const char *last_text(const char *text) {
  return text == nullptr ? nullptr : last_text(std::string_view(text)).data();
}

template <typename T> bool load(make_caster<T> *caster, handle source, bool convert, cleanup_list *cleanup) {
  uint32_t flags = flags_for_local_caster<T>(cast_flags::manual | (convert ? uint32_t{cast_flags::convert} : 0));
  return source.is_valid() && caster->from_python(source, flags, cleanup) && caster->template can_cast<T>() &&
         !(refers_v<T> && cleanup->used());
}
} // namespace detail

/** A value of Python as a T. Throws cast_error if it is not one. */
template <typename T, typename Derived> T cast(const detail::object_api<Derived> &value, bool convert = true) {
  const handle &source = detail::stored(static_cast<const Derived &>(value));
  if constexpr (std::is_void_v<T>) {
    return;
  } else if constexpr (detail::is_text_view_v<T>) {
    std::decay_t<T> text;
    if (!detail::read_view(source, &text)) detail::throw_cast_error();
    if constexpr (!std::is_base_of_v<object, Derived>) detail::outlive_handle(source, &text);
    return text;
  } else if constexpr (detail::check_cast<T>()) {
    detail::cleanup_list cleanup;
    detail::make_caster<T> caster;
    if (!detail::load<T>(&caster, source, convert, &cleanup)) detail::throw_cast_error();
    return static_cast<T>(caster.operator detail::cast_t<T>());
  }
}
/** Reads a value of Python. False if it is not a T. */
template <typename T, typename Derived>
bool try_cast(const detail::object_api<Derived> &value, T &out, bool convert = true) noexcept {
  try {
    const handle &source = detail::stored(static_cast<const Derived &>(value));
    if constexpr (detail::is_text_view_v<T>) {
      if (!detail::read_view(source, &out)) return false;
      if constexpr (!std::is_base_of_v<object, Derived>) detail::outlive_handle(source, &out);
      return true;
    } else if constexpr (detail::check_cast<T>()) {
      detail::cleanup_list cleanup;
      detail::make_caster<T> caster;
      if (!detail::load<T>(&caster, source, convert, &cleanup)) return false;
      out = caster.operator detail::cast_t<T>();
      return true;
    }
  } catch (...) {
    return false;
  }
}
/** A value of C++ as one of Python. */
template <typename T>
object cast(T &&value, rv_policy policy = rv_policy::automatic_reference, handle parent = handle()) {
  detail::cleanup_list cleanup(&parent.any());
  if constexpr (std::is_convertible_v<T, const char *>) {
    return detail::checked(detail::type_caster<char>::from_cpp(static_cast<const char *>(value), policy, &cleanup));
  } else {
    return detail::checked(detail::make_caster<T>::from_cpp(std::forward<T>(value), policy, &cleanup));
  }
}
/** The object of Python that a value of C++ has already: empty if there is none. */
template <typename T> object find(const T &value) noexcept {
  detail::cleanup_list cleanup;
  handle known = detail::make_caster<T>::from_cpp(value, rv_policy::none, &cleanup);
  if (!known.is_valid()) python_error dropped;
  return steal(known);
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_CASTER_H_ */
