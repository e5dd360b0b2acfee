/* structural_detail.h - shared by visits and mutations: definition regions, callbacks by type, and the limit of
 * nesting. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_
#define TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_

#include <tvm/ffi/expected.h>
#include <tvm/ffi/extra/visit_error_context.h>
#include <tvm/ffi/function.h>

#include <tuple>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace tvm::ffi {

/** The time of the call of a callback. */
enum class WalkOrder : int32_t {
  kPreOrder = 0,  /**< before the parts of a value */
  kPostOrder = 1, /**< after its parts */
};

namespace detail {

/* ---- Definition regions ---- */

/** Sets the region until the end of the scope. Inside a pattern region the region does not change. */
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

/** The type of the first parameter of a callback. */
template <typename Callback>
using CallbackValue =
    std::remove_cv_t<std::remove_reference_t<std::tuple_element_t<0, typename FunctionInfo<Callback>::ArgType>>>;

/** Calls use(callback, matched) if the value has the callback's parameter type. Returns whether it did. */
template <typename Callback, typename Use> bool TryCallback(Callback &callback, AnyView value, Use &use) {
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

/** Uses the first callback that accepts the value. Returns whether there is one. */
template <typename... Callbacks, typename Use>
bool TryCallbacks(std::tuple<Callbacks...> &callbacks, AnyView value, Use use) {
  return std::apply([&](auto &...callback) { return (TryCallback(callback, value, use) || ...); }, callbacks);
}

/** Calls f() and returns its result, or the error that it throws. */
template <typename T, typename F> Expected<T> Guarded(F f) noexcept {
  try {
    return f();
  } catch (...) {
    SetSafeCallRaisedFromCurrent();
    return MoveFromSafeCallRaised();
  }
}

/** Calls callback(value, state...) or callback(value, state..., region), according to the parameters of the
 * callback. */
template <typename T, typename Callback, typename Value, typename... States>
Expected<T> CallWithStates(Callback &callback, Value &&value, const std::tuple<States...> &states,
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

/** Returns a raw result; if it is an error, with `value` added to its context. */
TVM_FFI_INLINE TVMFFIAny Noted(TVMFFIAny result, AnyView value) noexcept {
  return TVM_FFI_PREDICT_FALSE(result.type_index == kTVMFFIError) ? WithErrorContext(result, value) : result;
}

/* ---- The limit of nesting: each level of nested values takes C stack ---- */

#if defined(_WIN32)
constexpr uintptr_t kMaxStructuralStackBytes = 512 << 10;
#else
constexpr uintptr_t kMaxStructuralStackBytes = 4 << 20; /**< half of the usual stack of a thread */
#endif

TVM_FFI_INLINE uintptr_t StackPosition() {
#if defined(_MSC_VER) && !defined(__clang__)
  return reinterpret_cast<uintptr_t>(_AddressOfReturnAddress());
#else
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
}

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline TVMFFIAny TooDeep() noexcept {
  return AnyUnsafe::MoveAnyToTVMFFIAny(
      Any(Error("ValueError",
                "Expected a value with few enough levels for the C stack but it has more of them, "
                "or contains itself",
                "")));
}

/** Measures the C stack that nested calls use. */
class StackUse {
public:
  /** Calls run() and returns its raw result; a ValueError if the calls since the outermost one have used too much
   * stack. */
  template <typename Run> TVMFFIAny Call(Run run) noexcept {
    uintptr_t here = StackPosition();
    if (outermost_ != 0) {
      return TVM_FFI_PREDICT_FALSE(outermost_ > here + kMaxStructuralStackBytes) ? TooDeep() : run();
    }
    outermost_ = here;
    TVMFFIAny result = run();
    outermost_ = 0;
    return result;
  }

private:
  uintptr_t outermost_ = 0;
};

} // namespace detail
} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_DETAIL_H_ */
