/* structural_detail.h - what visits and mutations share: definition regions, callbacks by type, how deep they go. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_
#define TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_

#include <tvm/ffi/expected.h>
#include <tvm/ffi/extra/visit_error_context.h>
#include <tvm/ffi/function.h>

#include <tuple>

namespace tvm {
namespace ffi {

/* When a callback is called. */
enum class WalkOrder : int32_t {
  kPreOrder = 0,  /* before what a value consists of */
  kPostOrder = 1, /* after it */
};

namespace detail {

/* ---- Definition regions ---- */

/* Another region for as long as it lives. A pattern holds for all that is in it: there it changes nothing. */
class RegionScope {
public:
  RegionScope(TVMFFIDefRegionKind *region, TVMFFIDefRegionKind kind) : region_(region), before_(*region) {
    if (before_ != kTVMFFIDefRegionKindPattern) *region = kind;
  }
  ~RegionScope() { *region_ = before_; }
  RegionScope(const RegionScope &) = delete;
  RegionScope &operator=(const RegionScope &) = delete;

private:
  TVMFFIDefRegionKind *region_;
  TVMFFIDefRegionKind before_;
};

/* ---- Callbacks ---- */

/* What the first parameter of a callback asks for. */
template <typename Callback>
using CallbackValue =
    std::remove_cv_t<std::remove_reference_t<std::tuple_element_t<0, typename FunctionInfo<Callback>::ArgType>>>;

/* use(callback, matched) if the value is what the callback asks for; whether it is. */
template <typename Callback, typename Use>
TVM_FFI_INLINE bool TryCallback(Callback &callback, AnyView value, Use &use) {
  static_assert(FunctionInfo<Callback>::num_args >= 1, "a callback takes the value first");
  using Value = CallbackValue<Callback>;
  if constexpr (IsAnyOrView<Value>) {
    use(callback, Value(value));
    return true;
  } else {
    std::optional<Value> matched = value.template as<Value>();
    if (!matched.has_value()) return false;
    use(callback, *std::move(matched));
    return true;
  }
}

/* The same with the first of the callbacks that asks for such a value. */
template <typename... Callbacks, typename Use>
TVM_FFI_INLINE bool TryCallbacks(std::tuple<Callbacks...> &callbacks, AnyView value, Use use) {
  return std::apply([&](auto &...callback) { return (TryCallback(callback, value, use) || ...); }, callbacks);
}

/* What f() gives, or the error that it throws. */
template <typename T, typename F> TVM_FFI_INLINE Expected<T> Guarded(F f) noexcept {
  try {
    return f();
  } catch (...) {
    SetSafeCallRaisedFromCurrent();
    return MoveFromSafeCallRaised();
  }
}

/* callback(value, state...) or callback(value, state..., region). */
template <typename T, typename Callback, typename Value, typename... States>
TVM_FFI_INLINE Expected<T> CallWithStates(Callback &callback, Value &&value, const std::tuple<States...> &states,
                                          TVMFFIDefRegionKind region) noexcept {
  constexpr size_t kArgs = FunctionInfo<Callback>::num_args, kStates = sizeof...(States);
  static_assert(kArgs == 1 + kStates || kArgs == 2 + kStates,
                "a callback takes the value, each state of the Parent and, if it likes, the TVMFFIDefRegionKind");
  static_assert(std::is_convertible_v<typename FunctionInfo<Callback>::RetType, Expected<T>>,
                "a callback gives a value of the right type, an Expected of one, or an Error");
  return Guarded<T>([&]() -> Expected<T> {
    return std::apply(
        [&](auto &...state) -> Expected<T> {
          if constexpr (kArgs == 1 + kStates) {
            (void)region;
            return callback(std::forward<Value>(value), state...);
          } else {
            return callback(std::forward<Value>(value), state..., region);
          }
        },
        states);
  });
}

/* A result; an error notes the value that it leaves. */
template <typename T> TVM_FFI_INLINE Expected<T> Noted(Expected<T> result, AnyView value) noexcept {
  TVMFFIAny raw = ExpectedUnsafe::MoveToTVMFFIAny(std::move(result));
  if (TVM_FFI_PREDICT_FALSE(raw.type_index == kTVMFFIError)) raw = WithErrorContext(raw, value);
  return ExpectedUnsafe::MoveFromTVMFFIAny<T>(raw);
}

/* ---- Depth: values in values take C stack ---- */

constexpr int kMaxStructuralDepth = 4096;

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error TooDeepError() {
  return Error("ValueError",
               "Expected a value of at most " + std::to_string(kMaxStructuralDepth) +
                   " levels to visit or mutate but it has more, or contains itself",
               "");
}

/* run(), a raw result, one level deeper. */
template <typename Run> TVM_FFI_INLINE TVMFFIAny OneLevelDeeper(int *depth, Run run) noexcept {
  if (TVM_FFI_PREDICT_FALSE(*depth >= kMaxStructuralDepth)) return AnyUnsafe::MoveAnyToTVMFFIAny(Any(TooDeepError()));
  ++*depth;
  TVMFFIAny result = run();
  --*depth;
  return result;
}

} // namespace detail
} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_ */
