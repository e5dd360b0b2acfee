/* structural_walk.h - StructuralWalk: calls callbacks, chosen by type, for each value in a value, in one of two orders.
 *
 *   StructuralWalk<WalkOrder::kPreOrder>(
 *       root,
 *       [&](const VarObj *var) -> Expected<WalkResult> { ...; return WalkResult::Advance(); },
 *       [&](const FuncObj *func, TVMFFIDefRegionKind region) -> Expected<WalkResult> { return WalkResult::Skip(); });
 *
 * The first callback whose parameter a value matches is called, once for each occurrence of the value. None is not
 * visited. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_WALK_H_
#define TVM_FFI_EXTRA_STRUCTURAL_WALK_H_

#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/extra/structural_visitor.h>

namespace tvm::ffi {

/** The result of a callback: continue; continue, but not into this value (in pre-order only); or end the walk. None
 * converts to Advance. */
class WalkResult : public Variant<VisitInterrupt, int32_t> {
public:
  static constexpr int32_t kAdvanceTag = 0; /**< stands for Advance */
  static constexpr int32_t kSkipTag = 1; /**< stands for Skip */
  /** The value as it crosses the ABI. */
  using Storage = Variant<VisitInterrupt, int32_t>;

  /** Continue. */
  static WalkResult Advance() { return WalkResult(Storage(kAdvanceTag)); }
  /** Continue, but not into this value; in pre-order only. */
  static WalkResult Skip() { return WalkResult(Storage(kSkipTag)); }
  /** End the walk, which returns the signal. */
  static WalkResult Interrupt(VisitInterrupt signal = VisitInterrupt()) {
    return WalkResult(Storage(std::move(signal)));
  }

private:
  explicit WalkResult(Storage storage) : Storage(std::move(storage)) {}
  friend struct TypeTraits<WalkResult>;
};

template <> inline constexpr bool use_default_type_traits_v<WalkResult> = false;

template <> struct TypeTraits<WalkResult> : TypeTraits<WalkResult::Storage> {
  using Base = TypeTraits<WalkResult::Storage>;
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFINone || Base::CheckAnyStrict(src);
  }
  TVM_FFI_INLINE static WalkResult CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return src->type_index == kTVMFFINone ? WalkResult::Advance() : WalkResult(Base::CopyFromAnyViewAfterCheck(src));
  }
  TVM_FFI_INLINE static WalkResult MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return src->type_index == kTVMFFINone ? WalkResult::Advance() : WalkResult(Base::MoveFromAnyAfterCheck(src));
  }
  TVM_FFI_INLINE static std::optional<WalkResult> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFINone) return WalkResult::Advance();
    if (std::optional<WalkResult::Storage> storage = Base::TryCastFromAnyView(src)) {
      return WalkResult(*std::move(storage));
    }
    return std::nullopt;
  }
  static std::string TypeStr() { return "WalkResult"; }
};

/** The visitor of a walk. Parent is derived from StructuralVisitorObj and passes the table to its constructor. Parent
 * may have states for the callbacks: references, typed by its StateTupleType and returned by its StateTuple(), which
 * callbacks get between the value and the region. Parent may have its own DefaultVisitExpected. */
template <typename Parent, WalkOrder order, typename... Callbacks>
class StructuralWalkEngine : public detail::VisitorEngine<StructuralWalkEngine<Parent, order, Callbacks...>, Parent> {
public:
  /** The types of the states that callbacks get. */
  using StateTupleType = typename Parent::StateTupleType;

  /** Takes one callback or more. */
  explicit StructuralWalkEngine(Callbacks... callbacks) : callbacks_(std::move(callbacks)...) {}

private:
  TVMFFIAny VisitOne(AnyView value) noexcept {
    if constexpr (order == WalkOrder::kPreOrder) {
      TVMFFIAny said = CallBack(value);
      if (TVM_FFI_PREDICT_FALSE(said.type_index != kTVMFFIInt)) return said;
      if (said.v_int64 == WalkResult::kSkipTag) return AnyView().CopyToTVMFFIAny();
    }
    TVMFFIAny visited = this->DescendInto(value);
    if (order == WalkOrder::kPreOrder || visited.type_index != kTVMFFINone) return visited;
    TVMFFIAny said = CallBack(value);
    return said.type_index != kTVMFFIInt ? said : visited;
  }
  /** A raw WalkResult or an error; Advance if no callback matches. */
  TVMFFIAny CallBack(AnyView value) noexcept {
    TVMFFIAny said;
    detail::PutInt64(kTVMFFIInt, WalkResult::kAdvanceTag, &said);
    detail::TryCallbacks(callbacks_, value, [&](auto &callback, auto &&matched) {
      StateTupleType states = Parent::StateTuple();
      said = detail::ExpectedUnsafe::MoveToTVMFFIAny(detail::CallWithStates<WalkResult>(
          callback, std::forward<decltype(matched)>(matched), states, Parent::def_region_kind()));
    });
    return said;
  }

  std::tuple<Callbacks...> callbacks_;

  friend class detail::VisitorEngine<StructuralWalkEngine, Parent>;
};

/** nullopt if everything was visited; the interrupt of the callback that ended the walk; or the error of a callback or
 * a hook, with a VisitErrorContext. ValueError for a value that is nested too deeply. */
template <WalkOrder order, typename... Callbacks>
Expected<Optional<VisitInterrupt>> StructuralWalkExpected(AnyView root, Callbacks &&...callbacks) noexcept {
  static_assert(sizeof...(Callbacks) != 0, "a walk needs a callback");
  using Engine = StructuralWalkEngine<StructuralVisitorObj, order, std::decay_t<Callbacks>...>;
  return detail::Guarded<Optional<VisitInterrupt>>(
      [&] { return detail::VisitRoot(make_object<Engine>(std::forward<Callbacks>(callbacks)...).get(), root); });
}
/** StructuralWalkExpected, which throws the error. */
template <WalkOrder order, typename... Callbacks>
Optional<VisitInterrupt> StructuralWalk(AnyView root, Callbacks &&...callbacks) {
  return StructuralWalkExpected<order>(root, std::forward<Callbacks>(callbacks)...).value();
}

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_WALK_H_ */
