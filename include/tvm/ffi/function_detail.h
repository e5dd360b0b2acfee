/* function_detail.h - the signature of a C++ function, and calling it with values. Programs include function.h. */
#ifndef TVM_FFI_FUNCTION_DETAIL_H_
#define TVM_FFI_FUNCTION_DETAIL_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/expected.h>
#include <tvm/ffi/widen.h>

#include <string_view>
#include <tuple>
#include <vector>

namespace tvm::ffi::detail {

/* ---- Types ---- */

/** Whether the traits of a type have a schema. User-defined traits may lack it. */
template <typename T, typename = void> inline constexpr bool HasTypeSchema = false;
template <typename T> inline constexpr bool HasTypeSchema<T, std::void_t<decltype(TypeTraits<T>::TypeSchema())>> = true;

template <typename T> struct TypeSchemaImpl {
  static std::string v() {
    if constexpr (std::is_void_v<T>) {
      return NamedTypeSchema(StaticTypeKey::kTVMFFINone);
    } else if constexpr (std::is_same_v<T, Any> || std::is_same_v<T, AnyView>) {
      return NamedTypeSchema(StaticTypeKey::kTVMFFIAny);
    } else if constexpr (TypeTraits<T>::convert_enabled) { /* otherwise CheckArg reports the type */
      if constexpr (HasTypeSchema<T>) return TypeTraits<T>::TypeSchema();
      return NamedTypeSchema(StaticTypeKey::kTVMFFIAny);
    }
  }
};

template <typename T> inline constexpr bool IsAnyOrView = std::is_same_v<T, Any> || std::is_same_v<T, AnyView>;

/** A parameter may be a T, a const T & or a T &&: the argument is converted into a separate object. */
template <typename T, typename Plain = std::remove_const_t<std::remove_reference_t<T>>>
static constexpr bool ArgSupported = (!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>>) &&
                                     (!std::is_rvalue_reference_v<T> || !std::is_const_v<std::remove_reference_t<T>>) &&
                                     (IsAnyOrView<Plain> || TypeTraits<Plain>::convert_enabled);
template <typename T>
static constexpr bool RetSupported = std::is_same_v<T, Any> || std::is_void_v<T> || TypeTraits<T>::convert_enabled;

/** Fails to compile for a type that cannot be a value; the compiler's message names the type. */
template <typename T> constexpr bool CheckArg() {
  if constexpr (!ArgSupported<T>) {
    static_assert(!CheckHeader<std::remove_const_t<std::remove_reference_t<T>>>() || ArgSupported<T>,
                  "this parameter type cannot cross: it needs TypeTraits (and be a T, const T & or T &&)");
  }
  return ArgSupported<T>;
}
template <typename T> constexpr bool CheckRet() {
  if constexpr (!RetSupported<T>) {
    static_assert(!CheckHeader<T>() || RetSupported<T>, "this result type cannot cross: it needs TypeTraits");
  }
  if constexpr (RetSupported<T> && !std::is_void_v<T>) return CheckField<T>();
  return RetSupported<T>;
}

using FGetFuncSignature = std::string (*)();

/** The string of a signature, from the names of the result and of n parameters: "(0: int, 1: str) -> float", for
 * messages. And its JSON, from their schemas. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string SignatureText(const TypeText *types, size_t n) {
  std::string text = "(";
  for (size_t i = 0; i < n; ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(i)).append(": ").append(types[1 + i]());
  }
  return text.append(") -> ").append(types[0]());
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string SignatureSchema(const char *type, const TypeText *types,
                                                                       size_t n) {
  std::string text("{\"type\":\"");
  text.append(type).append("\",\"named_args\":{\"return\":[").append(types[0]()).append("],\"params\":[");
  return JoinTypes(std::move(text), types + 1, n, ",", "]}}");
}

template <typename R, typename... Args> struct FuncFunctorImpl {
  using FType = R(Args...);
  using ArgType = std::tuple<Args...>;
  using RetType = R;
  static constexpr size_t num_args = sizeof...(Args);
  static constexpr bool unpacked_supported = (ArgSupported<Args> && ...) && RetSupported<R>;
  static constexpr bool CheckSignature() { return (CheckArg<Args>() && ... && CheckRet<R>()); }

  TVM_FFI_COLD_CODE static std::string Sig() {
    static constexpr TypeText types[] = {&Type2Str<R>::v, &Type2Str<Args>::v...};
    return SignatureText(types, num_args);
  }
  /** The names of the result and of each parameter. */
  TVM_FFI_COLD_CODE static std::vector<std::string> TypeNames() { return {Type2Str<R>::v(), Type2Str<Args>::v()...}; }
  TVM_FFI_COLD_CODE static std::string TypeSchema(const char *type = StaticTypeKey::kTVMFFIFunction) {
    static constexpr TypeText types[] = {&detail::TypeSchema<R>::v, &detail::TypeSchema<Args>::v...};
    return SignatureSchema(type, types, num_args);
  }
};

/** The type F without noexcept, which is part of a function's type and does not matter here. */
template <typename F> struct NoNoexcept {
  using type = F;
};
template <typename R, typename... Args> struct NoNoexcept<R(Args...) noexcept> {
  using type = R(Args...);
};
template <typename R, typename... Args> struct NoNoexcept<R (*)(Args...) noexcept> {
  using type = R (*)(Args...);
};
template <typename C, typename R, typename... Args> struct NoNoexcept<R (C::*)(Args...) noexcept> {
  using type = R (C::*)(Args...);
};
template <typename C, typename R, typename... Args> struct NoNoexcept<R (C::*)(Args...) const noexcept> {
  using type = R (C::*)(Args...) const;
};

/** The signature of the call operator of a class. */
template <typename T> struct CallOperatorInfo;
template <typename T, typename R, typename... Args>
struct CallOperatorInfo<R (T::*)(Args...)> : FuncFunctorImpl<R, Args...> {};
template <typename T, typename R, typename... Args>
struct CallOperatorInfo<R (T::*)(Args...) const> : FuncFunctorImpl<R, Args...> {};

/** The signature of anything callable; the object is the first parameter of a method. For anything else, CheckSignature
 * fails to compile. */
template <typename T, typename = void> struct PlainFunctionInfo : FuncFunctorImpl<void> {
  static constexpr bool CheckSignature() {
    static_assert(std::is_void_v<T>, "this is not a function with one signature: it cannot be called, is generic or "
                                     "overloaded, or is a method of a class that is not below Object or ObjectRef");
    return false;
  }
};
template <typename T>
struct PlainFunctionInfo<T, std::void_t<decltype(&T::operator())>>
    : CallOperatorInfo<typename NoNoexcept<decltype(&T::operator())>::type> {};
template <typename R, typename... Args> struct PlainFunctionInfo<R(Args...), void> : FuncFunctorImpl<R, Args...> {};
template <typename R, typename... Args> struct PlainFunctionInfo<R (*)(Args...), void> : FuncFunctorImpl<R, Args...> {};
template <typename C, typename R, typename... Args>
struct PlainFunctionInfo<R (C::*)(Args...), std::enable_if_t<std::is_base_of_v<Object, C>>>
    : FuncFunctorImpl<R, C *, Args...> {};
template <typename C, typename R, typename... Args>
struct PlainFunctionInfo<R (C::*)(Args...) const, std::enable_if_t<std::is_base_of_v<Object, C>>>
    : FuncFunctorImpl<R, const C *, Args...> {};
template <typename C, typename R, typename... Args>
struct PlainFunctionInfo<R (C::*)(Args...), std::enable_if_t<std::is_base_of_v<ObjectRef, C>>>
    : FuncFunctorImpl<R, C, Args...> {};
template <typename C, typename R, typename... Args>
struct PlainFunctionInfo<R (C::*)(Args...) const, std::enable_if_t<std::is_base_of_v<ObjectRef, C>>>
    : FuncFunctorImpl<R, const C, Args...> {};

template <typename F>
struct FunctionInfo : PlainFunctionInfo<typename NoNoexcept<std::remove_cv_t<std::remove_reference_t<F>>>::type> {};

/* ---- Calls ---- */

/** The called function, for messages. Without a signature, the name includes the signature, and behind the name are a
 * NUL and the names of all parameters, each with a NUL at its end. So hot code stores no pointer to them. */
struct CallContext {
  std::string_view name;
  FGetFuncSignature signature;
};

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string FullName(const CallContext &context) {
  return std::string(context.name).append(context.signature == nullptr ? "" : context.signature());
}
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowArgCount(const CallContext &context, size_t expected,
                                                                           int32_t given) {
  TVM_FFI_THROW(TypeError) << "Mismatched number of arguments when calling: `" << FullName(context) << "`. Expected "
                           << expected << " but got " << given << " arguments";
  TVM_FFI_UNREACHABLE();
}
/** "`name`" of a parameter; "" if the parameters have no names. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string ParameterName(const CallContext &context, size_t i) {
  if (context.signature != nullptr) return "";
  const char *name = context.name.data() + context.name.size() + 1;
  for (; i > 0; --i) name += std::char_traits<char>::length(name) + 1;
  return std::string("`").append(name).append("`");
}
/** The message for argument i, of which `given` is a description with marks. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string
ArgMismatch(const CallContext &context, size_t i, const std::string &expected, const std::string &given) {
  bool is_number = IsOutsideRange(given);
  std::string text(is_number ? "Value out of range on argument #" : "Mismatched type on argument #");
  std::string name = ParameterName(context, i);
  text.append(std::to_string(i));
  if (is_number && !name.empty()) text.append(" ").append(name);
  text.append(" when calling: `").append(FullName(context)).append("`. Expected `").append(expected);
  text.append(is_number ? "` but got " : "` but got `").append(Marked(kOfArgument, i)).append(given);
  if (!is_number) text.append("`").append(name.empty() ? "" : " for ").append(name);
  return text;
}
/** OverflowError for a number outside a range, otherwise TypeError. `args` is the first argument. */
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void
ThrowArgMismatch(const CallContext &context, size_t i, const std::string &expected, const TVMFFIAny *args,
                 std::string (*describe)(const TVMFFIAny *)) {
  std::string given = DescribeMarked(describe, args + i);
  ThrowMarked(IsOutsideRange(given) ? "OverflowError" : "TypeError", args, ArgMismatch(context, i, expected, given));
}
/** Converts an argument that did not convert narrowly; TypeError if it does not convert widely either. */
template <typename T>
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE T ConvertArgWide(const CallContext &context, size_t i, const AnyView &arg) {
  Widening widening;
  const TVMFFIAny *given = reinterpret_cast<const TVMFFIAny *>(&arg);
  if constexpr (is_wide_number_v<T>) {
    if (std::optional<T> value = TryOtherNumber<T>(given)) return *value;
  } else if constexpr (!std::is_scalar_v<T>) {
    std::optional<T> value = arg.template try_cast<T>();
    if (value.has_value()) return *std::move(value);
  }
  ThrowArgMismatch(context, i, Type2Str<T>::v(), given - i, &TypeTraits<T>::GetMismatchTypeInfo);
}

/** Argument i, converted to the type of the parameter. */
template <typename T, typename Plain = std::remove_const_t<std::remove_reference_t<T>>>
TVM_FFI_INLINE Plain ConvertArg(const CallContext &context, const AnyView *args, size_t i) {
  if constexpr (IsAnyOrView<Plain>) {
    return args[i];
  } else {
    std::optional<Plain> value = args[i].template try_cast<Plain>();
    if (TVM_FFI_PREDICT_FALSE(!value.has_value())) return ConvertArgWide<Plain>(context, i, args[i]);
    return *std::move(value);
  }
}

/** Calls f with converted arguments. `result` is None before the call and owns the result afterwards. The error of an
 * Expected is thrown. */
template <typename F, typename... Values>
TVM_FFI_INLINE void InvokeInto([[maybe_unused]] Any *result, F &f, Values &&...values) {
  using R = typename FunctionInfo<F>::RetType;
  if constexpr (std::is_void_v<R>) {
    f(std::forward<Values>(values)...);
  } else if constexpr (is_expected_v<R>) {
    R expected = f(std::forward<Values>(values)...);
    if (expected.is_err()) throw std::move(expected).error();
    *result = ExpectedUnsafe::GetData(expected);
  } else {
    *result = R(f(std::forward<Values>(values)...));
  }
}

template <typename F, size_t... I>
TVM_FFI_INLINE void CallWithArgs(std::index_sequence<I...>, const CallContext &context, F &f,
                                 [[maybe_unused]] const AnyView *args, Any *result) {
  using Args = typename FunctionInfo<F>::ArgType;
  InvokeInto(result, f, ConvertArg<std::tuple_element_t<I, Args>>(context, args, I)...);
}

/** Calls f with values. `result` is None before the call and owns the result afterwards. TypeError if the arguments do
 * not match. */
template <typename F>
TVM_FFI_INLINE void UnpackCall(std::string_view name, F &&f, const AnyView *args, int32_t num_args, Any *result) {
  using Info = FunctionInfo<F>;
  if constexpr (Info::CheckSignature()) {
    CallContext context{name, &Info::Sig};
    if (TVM_FFI_PREDICT_FALSE(num_args != static_cast<int32_t>(Info::num_args))) {
      ThrowArgCount(context, Info::num_args, num_args);
    }
    CallWithArgs(std::make_index_sequence<Info::num_args>{}, context, f, args, result);
  }
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_FUNCTION_DETAIL_H_ */
