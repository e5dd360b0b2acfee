/* function.h - C++ functions as Functions: parameters, overloads, exceptions. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_FUNCTION_H_
#define FFI_HPY_BIND_FUNCTION_H_

#include <ffi_hpy/bind/exception.h>
#include <ffi_hpy/bind/instance.h>

#include <tuple>
#include <vector>

FFI_HPY_NAMESPACE_BEGIN

/* ---- The further arguments of def ---- */

/** A parameter with a default. */
struct arg_v {
  const char *name;
  detail::owned value;
  std::string shown; /**< the default in Python's words */
  uint32_t flags;
};

/** A parameter: arg("x"), or "x"_a. */
struct arg {
  const char *name_;
  uint32_t flags_ = 0;
  constexpr explicit arg(const char *name = nullptr) : name_(name) {}
  /** The argument is not converted: an int is not accepted as a float. */
  constexpr arg noconvert(bool value = true) const {
    arg changed = *this;
    changed.flags_ = value ? flags_ | kFfiHpyParamNoConvert : flags_ & ~uint32_t{kFfiHpyParamNoConvert};
    return changed;
  }
  /** Whether None is accepted for a null pointer. */
  constexpr arg none(bool value = true) const {
    arg changed = *this;
    changed.flags_ = value ? flags_ & ~uint32_t{kFfiHpyParamRefusesNone} : flags_ | kFfiHpyParamRefusesNone;
    return changed;
  }
  template <typename T> arg_v operator=(T &&value) const;
};

namespace literals {
constexpr arg operator""_a(const char *name, size_t) { return arg(name); }
} // namespace literals

/** Objects of `Guards` live while the function runs: call_guard<gil_scoped_release>(). */
template <typename... Guards> struct call_guard {
  using type = std::tuple<Guards...>;
};
/** Other Python threads run while the function does. */
struct gil_scoped_release {};

/** The function implements an operator: for operands that do not fit, it returns NotImplemented. */
struct is_operator {};

namespace detail {

/** An overload with what the metadata needs. */
struct overload_record : ffi_hpy_overload {
  std::string text, doc, metadata;
  std::vector<ffi_hpy_param> list;
  std::vector<std::string> shown; /**< the defaults in Python's words */
  rv_policy policy = rv_policy::automatic;
  bool releases_gil = false;

  overload_record() : ffi_hpy_overload{} {}
  virtual ~overload_record() {
    for (ffi_hpy_param &each : list) owned dropped(each.default_value);
  }
};

inline void say(overload_record *record, const char *doc) { record->doc = doc; }
inline void say(overload_record *record, rv_policy policy) { record->policy = policy; }
inline void say(overload_record *, is_operator) {}
inline void say(overload_record *record, const arg &param) {
  record->list.push_back(ffi_hpy_param{param.name_, none(), param.flags_});
  record->shown.emplace_back();
}
inline void say(overload_record *record, const arg_v &param) {
  owned value = param.value;
  record->list.push_back(ffi_hpy_param{param.name, value.release(), param.flags | kFfiHpyParamHasDefault});
  record->shown.push_back(param.shown);
}
template <typename... Guards> void say(overload_record *record, call_guard<Guards...>) {
  record->releases_gil = (std::is_same_v<Guards, gil_scoped_release> || ...);
}

/** One type of a signature. */
struct type_text {
  std::string (*name)();
  std::string (*schema)();
  bool accepts_none = false; /**< as a parameter */
};

/** Text in a JSON string. */
FFI_HPY_COLD inline std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      static const char digits[] = "0123456789abcdef";
      made.append("\\u00").append(1, digits[c >> 4]).append(1, digits[c & 15]);
    } else {
      made += c;
    }
  }
  return made += '"';
}

/** Completes an overload: parameters, signature and metadata. types[0] is the result. */
FFI_HPY_COLD inline void complete(overload_record *record, const char *name, bool has_self, const type_text *types,
                                  size_t n) {
  if (has_self && record->list.size() + 1 == n) {
    record->list.insert(record->list.begin(), ffi_hpy_param{"self", none(), kFfiHpyParamRefusesNone});
    record->shown.insert(record->shown.begin(), std::string());
  }
  bool is_named = record->list.size() == n;
  if (!is_named && record->list.size() != 0) {
    std::string message = std::string("`") + name + "` has " + std::to_string(n) + " parameters, but " +
                          std::to_string(record->list.size()) + " have a name";
    api->raise("TypeError", message.c_str());
    throw python_error();
  }
  record->list.resize(n, ffi_hpy_param{nullptr, none(), 0});
  record->shown.resize(n);
  std::string schema = "{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[" + types[0].schema() + "],\"params\":[";
  std::string params = "[";
  record->text = std::string(name) + "(";
  for (size_t i = 0; i < n; ++i) {
    const ffi_hpy_param &param = record->list[i];
    bool has_default = (param.flags & kFfiHpyParamHasDefault) != 0;
    if (!has_default) record->n_required = static_cast<uint32_t>(i + 1);
    std::string shown = param.name != nullptr ? param.name : "arg" + std::to_string(i);
    bool accepts_none = types[i + 1].accepts_none && (param.flags & kFfiHpyParamRefusesNone) == 0;
    std::string own_schema = types[i + 1].schema();
    record->text.append(i == 0 ? "" : ", ").append(shown).append(": ").append(types[i + 1].name());
    record->text.append(accepts_none ? " | None" : "");
    if (has_default) record->text.append(" = ").append(record->shown[i]);
    schema.append(i == 0 ? "" : ",").append(accepts_none ? schema_of("Optional", own_schema) : own_schema);
    params.append(i == 0 ? "" : ",").append("{\"name\":").append(quoted(shown));
    if (has_default) params.append(",\"shown\":").append(quoted(record->shown[i]));
    params.append("}");
  }
  record->text.append(") -> ").append(types[0].name());
  record->metadata = "{\"type_schema\":" + quoted(schema + "]}}");
  if (is_named) record->metadata.append(",\"params\":").append(quoted(params + "]"));
  record->metadata.append(record->releases_gil ? "" : ",\"nonblocking\":true").append(",\"python_results\":true}");
  record->n_params = static_cast<uint32_t>(n);
  record->params = record->list.data();
  record->signature = record->text.c_str();
}

/* ---- Calls ---- */

/** The caster of a parameter or result of type T: `char *` is text, a pointer has the caster of its target. */
template <typename T> using caster_for = caster<plain<T>>;

template <typename T> struct result_text {
  static std::string name() { return caster_for<T>::name(); }
  static std::string schema() { return caster_for<T>::schema(); }
};
template <> struct result_text<void> {
  static std::string name() { return "None"; }
  static std::string schema() { return named_schema("None"); }
};

template <typename Caster, typename A, typename = void> inline constexpr bool refuses_none_v = false;
template <typename Caster, typename A>
inline constexpr bool refuses_none_v<Caster, A, std::void_t<decltype(Caster::template refuses_none<A>)>> =
    Caster::template refuses_none<A>;

/** Whether None is a null pointer for a parameter of type A: a pointer to text or to an object of a bound class. */
template <typename A, typename = void>
inline constexpr bool takes_null_v = std::is_pointer_v<std::remove_reference_t<A>> && std::is_same_v<plain<A>, char>;
template <typename A>
inline constexpr bool takes_null_v<A, std::void_t<decltype(caster_for<A>::template refuses_none<A>)>> =
    std::is_pointer_v<std::remove_reference_t<A>>;

template <typename A, typename Caster>
bool read_argument(Caster *caster, const TVMFFIAny &any, const ffi_hpy_param &param, uint32_t flags) {
  if (any.type_index == kTVMFFINone) {
    if (refuses_none_v<Caster, A> || (param.flags & kFfiHpyParamRefusesNone) != 0) return false;
  }
  return caster->from(any, (flags & FFI_HPY_CONVERT) != 0 && (param.flags & kFfiHpyParamNoConvert) == 0);
}

template <typename F, typename R, typename... A> struct overload_of final : overload_record {
  explicit overload_of(F &&function) : f(std::move(function)) {
    call = &call_this;
    destroy = [](ffi_hpy_overload *self) { delete static_cast<overload_of *>(self); };
  }

  static int call_this(const ffi_hpy_overload *base, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) {
    const auto *self = static_cast<const overload_of *>(base);
    try {
      return self->invoke(std::index_sequence_for<A...>(), args, flags, result);
    } catch (...) {
      return translate_exception();
    }
  }

  mutable F f;

private:
  template <size_t... I>
  int invoke(std::index_sequence<I...>, [[maybe_unused]] const TVMFFIAny *args, [[maybe_unused]] uint32_t flags,
             TVMFFIAny *result) const {
    std::tuple<caster_for<A>...> in;
    if (!(read_argument<A>(&std::get<I>(in), args[I], params[I], flags) && ...)) return FFI_HPY_NEXT_OVERLOAD;
    if constexpr (std::is_void_v<R>) {
      f(std::get<I>(in).template get<A>()...);
    } else {
      const TVMFFIAny *parent = sizeof...(A) != 0 ? args : nullptr;
      *result = caster_for<R>::to(f(std::get<I>(in).template get<A>()...), policy, parent).release();
    }
    return 0;
  }
};

/** The signature of a callable. */
template <typename F> struct signature_of : signature_of<decltype(&F::operator())> {};
template <typename R, typename... A> struct signature_of<R (*)(A...)> {
  template <typename F> using overload = overload_of<F, R, A...>;
  static constexpr size_t n = sizeof...(A);
  static constexpr type_text types[] = {{&result_text<R>::name, &result_text<R>::schema},
                                        {&result_text<A>::name, &result_text<A>::schema, takes_null_v<A>}...};
};
template <typename R, typename... A> struct signature_of<R (*)(A...) noexcept> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A> struct signature_of<R (C::*)(A...)> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) const> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) noexcept> : signature_of<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct signature_of<R (C::*)(A...) const noexcept> : signature_of<R (*)(A...)> {};

/** A method of Class or of a base of it as a callable with the object as its first parameter; other callables
 * unchanged. */
template <typename Class, typename F> auto with_self(F &&f) { return std::decay_t<F>(std::forward<F>(f)); }
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...)) {
  return [method](Class &self, A... args) -> R { return (self.*method)(static_cast<A &&>(args)...); };
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) const) {
  return [method](const Class &self, A... args) -> R { return (self.*method)(static_cast<A &&>(args)...); };
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) noexcept) {
  return [method](Class &self, A... args) -> R { return (self.*method)(static_cast<A &&>(args)...); };
}
template <typename Class, typename C, typename R, typename... A> auto with_self(R (C::*method)(A...) const noexcept) {
  return [method](const Class &self, A... args) -> R { return (self.*method)(static_cast<A &&>(args)...); };
}

/** An overload of a callable. */
template <typename F, typename... Extra>
std::unique_ptr<overload_record> make_overload(const char *name, bool has_self, F &&f, const Extra &...extra) {
  using Plain = std::decay_t<F>;
  using Info = signature_of<Plain>;
  auto made = std::make_unique<typename Info::template overload<Plain>>(Plain(std::forward<F>(f)));
  (say(made.get(), extra), ...);
  complete(made.get(), name, has_self, Info::types, Info::n);
  return made;
}

/** A Function of one overload. */
inline owned function_of(std::unique_ptr<overload_record> overload) {
  TVMFFIObjectHandle made = nullptr;
  check(api->function_new(overload.get(), &made));
  (void)overload.release();
  return owned(view_of(made));
}

} // namespace detail

template <typename T> arg_v arg::operator=(T &&value) const {
  using Plain = std::decay_t<T>;
  detail::owned made;
  if constexpr (!std::is_same_v<Plain, std::nullptr_t>) {
    if constexpr (std::is_convertible_v<T, const char *>) {
      made = caster<char>::to(static_cast<const char *>(value), rv_policy::copy, nullptr);
    } else {
      made = detail::caster_for<Plain>::to(std::forward<T>(value), rv_policy::copy, nullptr);
    }
  }
  detail::owned shown = detail::ask_python("repr", made);
  std::string_view text;
  detail::read_text(shown.value, false, &text);
  return arg_v{name_, std::move(made), std::string(text), flags_};
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_FUNCTION_H_ */
