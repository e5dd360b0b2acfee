/* arg.h - arg("name"): the name and the default of a parameter. Programs include registry.h.
 *
 *   refl::GlobalDef().def("my.mean", Mean, "The mean.", refl::arg("values"), refl::arg("window") = 3);
 *   TVM_FFI_DLL_EXPORT_NAMED_FUNC(mean, Mean, refl::arg("values"), refl::arg("window") = 3);
 *
 * The names are for callers in languages that have keyword arguments, for messages, and for documentation: the metadata
 * contains them under "params". The function itself fills in a default, for callers in any language. Either all
 * parameters have names or none, except the object of a method, which is called self; parameters with defaults come
 * last. */
#ifndef TVM_FFI_REFLECTION_ARG_H_
#define TVM_FFI_REFLECTION_ARG_H_

#include <tvm/ffi/function.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace tvm::ffi::reflection {

/** A parameter with a default: None, a bool, an int, a float, or a string. TypeError for another value. */
class default_arg {
public:
  /** A parameter of that name with a default. */
  template <typename T> default_arg(const char *name, T &&value) : name_(name), value_(std::forward<T>(value)) {
    int32_t index = value_.type_index();
    bool is_plain = index == kTVMFFINone || index == kTVMFFIBool || index == kTVMFFIInt || index == kTVMFFIBigInt ||
                    index == kTVMFFIFloat || value_.template as<String>().has_value();
    if (!is_plain) {
      TVM_FFI_THROW(TypeError) << "The default of parameter `" << name << "` must be None, bool, int, float or text, "
                               << "not " << value_.GetTypeKey();
    }
  }
  /** The name of the parameter. */
  const char *name() const { return name_; }
  /** The default. */
  const Any &value() const { return value_; }

private:
  const char *name_;
  Any value_;
};

/** A parameter. */
class arg {
public:
  /** A parameter of that name. */
  constexpr explicit arg(const char *name) : name_(name) {}
  template <typename T> default_arg operator=(T &&value) const { return default_arg(name_, std::forward<T>(value)); }
  /** The default None, for a std::optional. */
  default_arg operator=(std::nullopt_t) const { return default_arg(name_, nullptr); }
  /** The name of the parameter. */
  const char *name() const { return name_; }

private:
  const char *name_;
};

namespace detail {

template <typename T> inline constexpr bool kIsDefault = std::is_same_v<std::decay_t<T>, default_arg>;
template <typename T> inline constexpr bool kIsArg = std::is_same_v<std::decay_t<T>, arg> || kIsDefault<T>;

/** The value as a literal of JSON or of Python. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string Literal(const Any &value, bool is_json) {
  switch (value.type_index()) {
  case kTVMFFINone: return is_json ? "null" : "None";
  case kTVMFFIBool: return value.cast<bool>() ? (is_json ? "true" : "True") : (is_json ? "false" : "False");
  case kTVMFFIInt:
  case kTVMFFIBigInt: return ffi::detail::IntegerText(ffi::detail::AnyUnsafe::TVMFFIAnyPtrFromAny(value));
  case kTVMFFIFloat: {
    double number = value.cast<double>();
    if (number != number) return is_json ? "NaN" : "nan";
    if (number - number != 0) return std::string(number < 0 ? "-" : "").append(is_json ? "Infinity" : "inf");
    char text[40];
    for (int digits : {15, 17}) { /* the shorter form if it is the same number */
      std::snprintf(text, sizeof(text), "%.*g", digits, number);
      if (std::strtod(text, nullptr) == number) break;
    }
    std::string found(text);
    return found.find_first_of(".e") == std::string::npos ? found.append(".0") : found;
  }
  default: {
    String text = value.cast<String>();
    return is_json ? std::string(EscapeStringJSON(text)) : std::string(EscapedStringPy(text));
  }
  }
}

/** Throws OverflowError if a default is a number outside the range of T; `whose` names it for the message. */
template <typename T> TVM_FFI_COLD_CODE void CheckDefault([[maybe_unused]] AnyView value, const std::string &whose) {
  if constexpr (!ffi::detail::IsAnyOrView<T>) {
    if (value.template try_cast<T>().has_value()) return;
    TVMFFIAny raw = value.CopyToTVMFFIAny();
    std::string found = TypeTraits<T>::GetMismatchTypeInfo(&raw);
    if (ffi::detail::IsOutsideRange(found)) TVM_FFI_THROW(OverflowError) << whose << ": the default is " << found;
  }
}

/** The parameters of one function. */
class ArgList {
public:
  template <typename... Extra> explicit ArgList(const Extra &...extra) { (Add(extra), ...); }

  /** Names the object of a method; n counts the parameters including it. TypeError if the numbers do not match. */
  TVM_FFI_COLD_CODE void Fit(const std::string &function, size_t n, bool has_object) {
    if (has_object && args_.size() + 1 == n) args_.insert(args_.begin(), Arg{"self", std::nullopt});
    if (args_.size() != n) {
      TVM_FFI_THROW(TypeError) << "`" << function << "` has " << n << " parameters, but " << args_.size()
                               << " have a name";
    }
    for (size_t i = 1; i < n; ++i) {
      if (args_[i - 1].value.has_value() && !args_[i].value.has_value()) {
        TVM_FFI_THROW(TypeError) << "`" << function << "`: parameter `" << args_[i].name
                                 << "` has no default, but one before it has";
      }
    }
  }
  /** OverflowError for a default outside the range of its parameter. The second argument only passes the types. */
  template <typename... T>
  TVM_FFI_COLD_CODE void CheckDefaults(const std::string &function, const std::tuple<T...> *) const {
    [[maybe_unused]] auto each = args_.begin();
    (CheckOne<std::remove_cv_t<std::remove_reference_t<T>>>(function, *each++), ...);
  }
  /** The parameters as metadata. */
  TVM_FFI_COLD_CODE std::string ToJSON() const {
    std::string text("[");
    for (const Arg &each : args_) {
      text.append(text.size() == 1 ? "" : ",").append("{\"name\":").append(EscapeStringJSON(each.name));
      if (each.value.has_value()) text.append(",\"default\":").append(Literal(*each.value, true));
      text.append("}");
    }
    return text.append("]");
  }
  /** The name of a function with its signature, for messages, from the type names of the result and the parameters. */
  TVM_FFI_COLD_CODE std::string Signature(std::string name, const std::vector<std::string> &types) const {
    name.append("(");
    for (size_t i = 0; i < args_.size(); ++i) {
      name.append(i == 0 ? "" : ", ").append(args_[i].name).append(": ").append(types[i + 1]);
      if (args_[i].value.has_value()) name.append(" = ").append(Literal(*args_[i].value, false));
    }
    return name.append(") -> ").append(types[0]);
  }
  /** The names of the parameters, in the form of CallContext. */
  TVM_FFI_COLD_CODE std::string Names() const {
    std::string names;
    for (const Arg &each : args_) names.append(1, '\0').append(each.name);
    return names;
  }
  /** Writes all n arguments: the given ones, and defaults for the rest. TypeError if a default is missing. */
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void Complete(const std::string &signature, const AnyView *given, int32_t n_given,
                                                    AnyView *all) const {
    size_t n = args_.size(), have = static_cast<size_t>(n_given);
    if (have > n || (have < n && !args_[have].value.has_value())) {
      TVM_FFI_THROW(TypeError) << "Mismatched number of arguments when calling: `" << signature << "`. Expected " << n
                               << " but got " << n_given << " arguments"
                               << (have < n ? ": missing argument '" + args_[have].name + "'" : std::string());
    }
    for (size_t i = 0; i < n; ++i) all[i] = i < have ? given[i] : AnyView(*args_[i].value);
  }

private:
  struct Arg {
    std::string name;
    std::optional<Any> value;
  };
  template <typename T> void Add([[maybe_unused]] const T &what) {
    if constexpr (kIsDefault<T>) {
      args_.push_back(Arg{what.name(), what.value()});
    } else if constexpr (kIsArg<T>) {
      args_.push_back(Arg{what.name(), std::nullopt});
    }
  }

  template <typename T> static void CheckOne(const std::string &function, const Arg &arg) {
    if (arg.value.has_value()) CheckDefault<T>(*arg.value, "`" + function + "`: parameter `" + arg.name + "`");
  }

  std::vector<Arg> args_;
};

/** The packed form of a callable whose parameters have names. */
template <typename TCallable> class NamedCallable {
  using Info = ffi::detail::FunctionInfo<TCallable>;

public:
  template <typename F>
  NamedCallable(F &&f, const std::string &name, ArgList args) : f_(std::forward<F>(f)), args_(std::move(args)) {
    std::string signature = args_.Signature(name, Info::TypeNames());
    n_signature_ = signature.size();
    text_ = signature + args_.Names();
  }
  TVM_FFI_INLINE void operator()(const AnyView *args, int32_t num_args, Any *result) const {
    if (TVM_FFI_PREDICT_FALSE(num_args != static_cast<int32_t>(Info::num_args))) {
      return CallCompleted(args, num_args, result);
    }
    CallAll(args, result);
  }
  std::string ToJSON() const { return args_.ToJSON(); }

private:
  std::string_view Signature() const { return std::string_view(text_.data(), n_signature_); }
  TVM_FFI_INLINE void CallAll(const AnyView *args, Any *result) const {
    ffi::detail::CallContext context{Signature(), nullptr};
    ffi::detail::CallWithArgs(std::make_index_sequence<Info::num_args>{}, context, f_, args, result);
  }
  TVM_FFI_NO_INLINE void CallCompleted(const AnyView *args, int32_t num_args, Any *result) const {
    AnyView all[Info::num_args + 1];
    args_.Complete(std::string(Signature()), args, num_args, all);
    try {
      CallAll(all, result);
    } catch (const Error &error) {
      ffi_hpy_move_class_places(ffi::detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(error),
                                reinterpret_cast<const TVMFFIAny *>(all), reinterpret_cast<uintptr_t>(args));
      throw;
    }
  }

  mutable TCallable f_;
  ArgList args_;
  std::string text_; /**< the signature, then the names of the parameters, for CallContext */
  size_t n_signature_;
};

/** Makes a function of a callable, and the metadata of its parameters: "" if `extra` names none. */
template <typename F, typename... Extra>
std::pair<Function, std::string> MakeNamed([[maybe_unused]] bool has_object, F &&f, const std::string &name,
                                           const Extra &...extra) {
  if constexpr ((kIsArg<Extra> || ...)) {
    using Callable = std::decay_t<F>;
    static_assert(ffi::detail::FunctionInfo<Callable>::CheckSignature(), "see the message above");
    ArgList args(extra...);
    args.Fit(name, ffi::detail::FunctionInfo<Callable>::num_args, has_object);
    args.CheckDefaults(name, static_cast<typename ffi::detail::FunctionInfo<Callable>::ArgType *>(nullptr));
    std::string json = args.ToJSON();
    return {Function::FromPacked(NamedCallable<Callable>(std::forward<F>(f), name, std::move(args))), std::move(json)};
  } else {
    return {Function::FromTyped(std::forward<F>(f), name), std::string()};
  }
}

/** The metadata of parameters; "" if `extra` names none. */
template <typename... Extra> std::string NamesToJSON([[maybe_unused]] const Extra &...extra) {
  if constexpr ((kIsArg<Extra> || ...)) return ArgList(extra...).ToJSON();
  return std::string();
}

/** The callable of an exported function, made at its first call. */
template <typename F, typename... Extra>
NamedCallable<std::decay_t<F>> ExportNamed(const char *name, F &&f, const Extra &...extra) {
  ArgList args(extra...);
  args.Fit(name, ffi::detail::FunctionInfo<std::decay_t<F>>::num_args, false);
  return NamedCallable<std::decay_t<F>>(std::forward<F>(f), name, std::move(args));
}

} // namespace detail
} // namespace tvm::ffi::reflection

/** Exports a function from the library, as TVM_FFI_DLL_EXPORT_TYPED_FUNC, with names for its parameters, and always
 * with its metadata. */
#define TVM_FFI_DLL_EXPORT_NAMED_FUNC(ExportName, Func, ...)                                               \
  static const auto &ffi_named_##ExportName##_() {                                                         \
    static const auto named = ::tvm::ffi::reflection::detail::ExportNamed(#ExportName, Func, __VA_ARGS__); \
    return named;                                                                                          \
  }                                                                                                        \
  TVM_FFI_EXPORT_SYMBOL_(__tvm_ffi_##ExportName) {                                                         \
    TVM_FFI_SAFE_CALL_BEGIN();                                                                             \
    ffi_named_##ExportName##_()(reinterpret_cast<const ::tvm::ffi::AnyView *>(ffi_args_), ffi_num_args_,   \
                                reinterpret_cast<::tvm::ffi::Any *>(ffi_result_));                         \
    TVM_FFI_SAFE_CALL_END();                                                                               \
  }                                                                                                        \
  TVM_FFI_EXPORT_TEXT_(                                                                                    \
      __tvm_ffi__metadata_##ExportName,                                                                    \
      "{\"type_schema\":" +                                                                                \
          std::string(::tvm::ffi::EscapeStringJSON(                                                        \
              ::tvm::ffi::detail::FunctionInfo<std::decay_t<decltype(Func)>>::TypeSchema())) +             \
          ",\"params\":" + std::string(::tvm::ffi::EscapeStringJSON(ffi_named_##ExportName##_().ToJSON())) + "}")

#endif /* TVM_FFI_REFLECTION_ARG_H_ */
