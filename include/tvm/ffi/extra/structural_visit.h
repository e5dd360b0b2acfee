/* structural_visit.h - StructuralVisit: callbacks by type, each of which visits the parts of its value.
 *
 *   StructuralVisit(root, [&](const Let &let, StructuralVisitorObj *visitor) -> Expected<Optional<VisitInterrupt>> {
 *     TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(let->value));
 *     return visitor->VisitExpected(let->body);
 *   });
 *
 * StructuralWalk of structural_walk.h, which this header includes, visits all parts automatically. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_VISIT_H_
#define TVM_FFI_EXTRA_STRUCTURAL_VISIT_H_

#include <tvm/ffi/extra/structural_visitor.h>
#include <tvm/ffi/extra/structural_walk.h>

namespace tvm::ffi {

/** The visitor of StructuralVisit. Parent is derived from StructuralVisitorObj. Callbacks get a pointer to its
 * VisitorObjType. DefaultVisitExpected of that type visits values that no callback matches. */
template <typename Parent, typename... Callbacks>
class StructuralVisitEngine : public detail::VisitorEngine<StructuralVisitEngine<Parent, Callbacks...>, Parent> {
public:
  /** Takes one callback or more. */
  explicit StructuralVisitEngine(Callbacks... callbacks) : callbacks_(std::move(callbacks)...) {}

private:
  using Visitor = typename Parent::VisitorObjType;

  TVMFFIAny VisitOne(AnyView value) noexcept {
    TVMFFIAny result = AnyView().CopyToTVMFFIAny();
    bool is_matched = detail::TryCallbacks(callbacks_, value, [&](auto &callback, auto &&matched) {
      CheckCallback<std::decay_t<decltype(callback)>>();
      result = detail::ExpectedUnsafe::MoveToTVMFFIAny(
          detail::Guarded<Optional<VisitInterrupt>>([&]() -> Expected<Optional<VisitInterrupt>> {
            return callback(std::forward<decltype(matched)>(matched), static_cast<Visitor *>(this));
          }));
    });
    return is_matched ? result : this->DescendInto(value);
  }
  template <typename Callback> static void CheckCallback() {
    using Info = detail::FunctionInfo<Callback>;
    static_assert(Info::num_args == 2, "a callback of StructuralVisit takes the value and the visitor");
    static_assert(std::is_same_v<std::decay_t<std::tuple_element_t<1, typename Info::ArgType>>, Visitor *>,
                  "the second parameter of the callback is a pointer to Parent::VisitorObjType");
  }

  std::tuple<Callbacks...> callbacks_;

  friend class detail::VisitorEngine<StructuralVisitEngine, Parent>;
};

/** nullopt if everything was visited, or the interrupt or the error of a callback or a hook, as StructuralWalkExpected.
 * The first callback whose parameter a value matches is called, and its result is the result of the visit of that
 * value. */
template <typename... Callbacks>
Expected<Optional<VisitInterrupt>> StructuralVisitExpected(AnyView root, Callbacks &&...callbacks) noexcept {
  static_assert(sizeof...(Callbacks) != 0, "a visit needs a callback");
  using Engine = StructuralVisitEngine<StructuralVisitorObj, std::decay_t<Callbacks>...>;
  return detail::Guarded<Optional<VisitInterrupt>>(
      [&] { return detail::VisitRoot(make_object<Engine>(std::forward<Callbacks>(callbacks)...).get(), root); });
}
/** StructuralVisitExpected, which throws the error. */
template <typename... Callbacks> Optional<VisitInterrupt> StructuralVisit(AnyView root, Callbacks &&...callbacks) {
  return StructuralVisitExpected(root, std::forward<Callbacks>(callbacks)...).value();
}

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_VISIT_H_ */
