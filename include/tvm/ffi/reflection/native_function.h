/* native_function.h - NativeFunction<R(Args...)>: a hook (callback) of a type that is called without packing its
 * arguments.
 *
 * As a value it is the address of a C function, TVMFFIAny (*)(Args...) noexcept, which returns its result or an Error;
 * or any Function, which is called with packed arguments. */
#ifndef TVM_FFI_REFLECTION_NATIVE_FUNCTION_H_
#define TVM_FFI_REFLECTION_NATIVE_FUNCTION_H_

#include <tvm/ffi/expected.h>
#include <tvm/ffi/function.h>

namespace tvm::ffi {
namespace reflection {

template <typename Signature> class NativeFunction;
template <typename Signature> class NativeFunctionView;

/** Borrows the hook from an attribute of a type or from a NativeFunction. */
template <typename R, typename... Args> class NativeFunctionView<R(Args...)> {
  static_assert(((std::is_lvalue_reference_v<Args> ||
                  (std::is_standard_layout_v<Args> && std::is_trivially_copyable_v<Args>)) &&
                 ...),
                "parameters are references or plain data, as they cross between libraries");
  static_assert((ffi::detail::ArgSupported<Args> && ...) && ffi::detail::RetSupported<R>, "the signature cannot cross");
  template <typename PackedR>
  static constexpr bool kGivesR = std::is_same_v<PackedR, R> || std::is_same_v<PackedR, Expected<R>>;

public:
  /** The C function of such a hook; it returns its result or an Error. */
  using ABIType = TVMFFIAny (*)(Args...) noexcept;

  NativeFunctionView() = delete;
  NativeFunctionView(std::nullptr_t) = delete;
  /** Borrows a function, which must outlive the view; ValueError for null. */
  template <typename PackedR, std::enable_if_t<kGivesR<PackedR>, int> = 0>
  NativeFunctionView(const TypedFunction<PackedR(Args...)> &packed)
      : data_(AnyView(packed.packed()).CopyToTVMFFIAny()) {
    TVM_FFI_CHECK(packed != nullptr, ValueError) << "a hook needs a function";
  }
  template <typename PackedR, std::enable_if_t<kGivesR<PackedR>, int> = 0>
  NativeFunctionView(const TypedFunction<PackedR(Args...)> &&) = delete; /* the view would dangle */
  /** From a C++ function, R(Args...), or Expected<R>(Args...) noexcept. */
  template <auto Fn> static NativeFunctionView FromNative() {
    using F = decltype(Fn); /* not Fn != nullptr: with UBSan, GCC does not accept that as a constant */
    static_assert(!std::is_same_v<std::integral_constant<F, Fn>, std::integral_constant<F, F{}>>,
                  "a hook needs a function");
    TVMFFIAny data;
    ffi::detail::PutPointer(kTVMFFIOpaquePtr, reinterpret_cast<void *>(&Adapter<Fn>), &data);
    return NativeFunctionView(UnsafeInit{}, data);
  }

  /** Calls the hook; returns its result or the error. */
  TVM_FFI_INLINE Expected<R> CallExpected(Args... args) const noexcept {
    if (TVM_FFI_PREDICT_TRUE(data_.type_index == kTVMFFIOpaquePtr)) {
      TVMFFIAny result = reinterpret_cast<ABIType>(data_.v_ptr)(std::forward<Args>(args)...);
      return ffi::detail::ExpectedUnsafe::MoveFromTVMFFIAny<R>(result);
    }
    return CallPacked(std::forward<Args>(args)...);
  }
  /** Calls the hook; throws its error. */
  TVM_FFI_INLINE R operator()(Args... args) const { return CallExpected(std::forward<Args>(args)...).value(); }

private:
  NativeFunctionView(UnsafeInit, TVMFFIAny data) : data_(data) {}

  template <auto Fn> static TVMFFIAny Adapter(Args... args) noexcept {
    return ffi::detail::ExpectedUnsafe::MoveToTVMFFIAny(Guarded<Fn>(std::forward<Args>(args)...));
  }
  template <auto Fn> static Expected<R> Guarded(Args... args) noexcept {
    using Given = std::invoke_result_t<decltype(Fn), Args...>;
    if constexpr (std::is_same_v<Given, Expected<R>>) {
      return Fn(std::forward<Args>(args)...);
    } else {
      try {
        if constexpr (std::is_void_v<R>) {
          Fn(std::forward<Args>(args)...);
          return Expected<void>();
        } else {
          return Fn(std::forward<Args>(args)...);
        }
      } catch (...) {
        ffi::detail::SetSafeCallRaisedFromCurrent();
        return ffi::detail::MoveFromSafeCallRaised();
      }
    }
  }
  TVM_FFI_COLD_CODE Expected<R> CallPacked(Args... args) const noexcept {
    Function function = ffi::detail::ObjectUnsafe::ObjectRefFromObjectPtr<Function>(
        ffi::detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(data_.v_obj));
    return function.template CallExpected<R>(std::forward<Args>(args)...);
  }

  TVMFFIAny data_;

  template <typename, typename> friend struct ::tvm::ffi::TypeTraits;
  template <typename> friend class NativeFunction;
};

/** Owns the hook. */
template <typename R, typename... Args> class NativeFunction<R(Args...)> {
public:
  /** The borrowed form of this hook. */
  using View = NativeFunctionView<R(Args...)>;

  /** Owns the hook of a view. */
  explicit NativeFunction(View view) : data_(AnyView(view)) {}
  /** From a function; ValueError for null. */
  template <typename PackedR,
            std::enable_if_t<std::is_same_v<PackedR, R> || std::is_same_v<PackedR, Expected<R>>, int> = 0>
  NativeFunction(const TypedFunction<PackedR(Args...)> &packed) : NativeFunction(View(packed)) {}
  /** Owns the hook of a view. */
  static NativeFunction From(View view) { return NativeFunction(view); }
  /** From a C++ function, R(Args...), or Expected<R>(Args...) noexcept. */
  template <auto Fn> static NativeFunction FromNative() { return From(View::template FromNative<Fn>()); }

  /** Calls the hook; returns its result or the error. */
  TVM_FFI_INLINE Expected<R> CallExpected(Args... args) const noexcept {
    return View(UnsafeInit{}, AnyView(data_).CopyToTVMFFIAny()).CallExpected(std::forward<Args>(args)...);
  }
  /** Calls the hook; throws its error. */
  TVM_FFI_INLINE R operator()(Args... args) const { return CallExpected(std::forward<Args>(args)...).value(); }

private:
  NativeFunction(UnsafeInit, Any data) : data_(std::move(data)) {}

  Any data_;

  template <typename, typename> friend struct ::tvm::ffi::TypeTraits;
};

} // namespace reflection

template <typename Signature>
inline constexpr bool use_default_type_traits_v<reflection::NativeFunctionView<Signature>> = false;
template <typename Signature>
inline constexpr bool use_default_type_traits_v<reflection::NativeFunction<Signature>> = false;

namespace detail {

/** The parts that both traits share: a value is a hook if it is the address of a C function or a Function. */
template <typename Signature> struct HookTraitsBase : TypeTraitsBase {
  static bool CheckAnyStrict(const TVMFFIAny *src) {
    return (src->type_index == kTVMFFIOpaquePtr && src->v_ptr != nullptr) || src->type_index == kTVMFFIFunction;
  }
  static std::string TypeStr() { return "Variant<void*, " + TypeTraits<TypedFunction<Signature>>::TypeStr() + ">"; }
  static std::string TypeSchema() {
    return "{\"type\":\"Variant\",\"args\":[" + TypeTraits<void *>::TypeSchema() + "," +
           TypeTraits<TypedFunction<Signature>>::TypeSchema() + "]}";
  }
};

} // namespace detail

template <typename Signature>
struct TypeTraits<reflection::NativeFunctionView<Signature>> : detail::HookTraitsBase<Signature> {
  using View = reflection::NativeFunctionView<Signature>;
  static void CopyToAnyView(const View &src, TVMFFIAny *result) { *result = src.data_; }
  static void MoveToAny(View src, TVMFFIAny *result) {
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(Any(AnyView::CopyFromTVMFFIAny(src.data_)));
  }
  static View CopyFromAnyViewAfterCheck(const TVMFFIAny *src) { return View(UnsafeInit{}, *src); }
  static View MoveFromAnyAfterCheck(TVMFFIAny *src) { return CopyFromAnyViewAfterCheck(src); }
  static std::optional<View> TryCastFromAnyView(const TVMFFIAny *src) {
    if (TypeTraits::CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    return std::nullopt;
  }
};

template <typename Signature>
struct TypeTraits<reflection::NativeFunction<Signature>> : detail::HookTraitsBase<Signature> {
  using Owner = reflection::NativeFunction<Signature>;
  static void CopyToAnyView(const Owner &src, TVMFFIAny *result) { *result = AnyView(src.data_).CopyToTVMFFIAny(); }
  static void MoveToAny(Owner src, TVMFFIAny *result) {
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(src.data_));
  }
  static Owner CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return Owner(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src));
  }
  static Owner MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return Owner(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
  }
  static std::optional<Owner> TryCastFromAnyView(const TVMFFIAny *src) {
    if (TypeTraits::CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    return std::nullopt;
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_REFLECTION_NATIVE_FUNCTION_H_ */
