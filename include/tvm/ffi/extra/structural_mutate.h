/* structural_mutate.h - StructuralMutate: callbacks by type, each of which makes the complete replacement of its value.
 *
 *   Any mutated = StructuralMutate(
 *       std::move(root), [](const Let &let, StructuralMutatorObj *mutator) -> Expected<UnchangedOr<Let>> {
 *         TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<Expr>, body, mutator->MutateExpected(let->body));
 *         if (body.IsUnchanged()) return Unchanged();
 *         return Let(let->var, let->value, std::move(body).ValueUnchecked());
 *       });
 *
 * StructuralMap of structural_map.h, which this header includes, mutates all parts automatically. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_MUTATE_H_
#define TVM_FFI_EXTRA_STRUCTURAL_MUTATE_H_

#include <tvm/ffi/extra/structural_map.h>
#include <tvm/ffi/extra/structural_mutator.h>
#include <tvm/ffi/extra/structural_visit.h>

namespace tvm::ffi {

/** The mutator of StructuralMutate. Parent is derived from StructuralMapEngineBase. Callbacks get a pointer to its
 * MutatorObjType. DefaultMutateExpected of that type mutates values that no callback matches. */
template <typename Parent, typename... Callbacks>
class StructuralMutateEngine : public detail::MutatorEngine<StructuralMutateEngine<Parent, Callbacks...>, Parent> {
public:
  /** Takes one callback or more. */
  explicit StructuralMutateEngine(Callbacks... callbacks) : callbacks_(std::move(callbacks)...) {}

private:
  using Mutator = typename Parent::MutatorObjType;

  TVMFFIAny MutateOne(AnyView value, InplaceMode mode) noexcept {
    TVMFFIAny result = Unchanged().CopyToTVMFFIAny();
    bool is_matched = detail::TryCallbacks(callbacks_, value, [&](auto &callback, auto &&matched) {
      result = detail::ExpectedUnsafe::MoveToTVMFFIAny(detail::Guarded<Any>(
          [&]() -> Expected<Any> { return Call(callback, std::forward<decltype(matched)>(matched), mode); }));
    });
    return is_matched ? detail::Noted(result, value) : this->DescendInto(value, mode);
  }
  template <typename Callback, typename Value>
  Expected<Any> Call(Callback &callback, Value &&value, [[maybe_unused]] InplaceMode mode) {
    using Info = detail::FunctionInfo<Callback>;
    static_assert(Info::num_args == 2 || Info::num_args == 3,
                  "a callback of StructuralMutate takes the value, the mutator and, if it likes, the InplaceMode");
    static_assert(std::is_same_v<std::decay_t<std::tuple_element_t<1, typename Info::ArgType>>, Mutator *>,
                  "the second parameter of the callback is a pointer to Parent::MutatorObjType");
    if constexpr (Info::num_args == 2) {
      return callback(std::forward<Value>(value), static_cast<Mutator *>(this));
    } else {
      static_assert(std::is_same_v<std::decay_t<std::tuple_element_t<2, typename Info::ArgType>>, InplaceMode>,
                    "the third parameter of the callback is an InplaceMode");
      return callback(std::forward<Value>(value), static_cast<Mutator *>(this), mode);
    }
  }

  std::tuple<Callbacks...> callbacks_;

  template <typename Engine, typename Base> friend class detail::MutatorEngine;
};

/** The replacement of the root, or an error, as StructuralMapExpected. The first callback whose parameter a value
 * matches is called, and its result replaces the value; it mutates the parts of the value by calling the mutator. A
 * callback that takes an InplaceMode passes it on for the parts, or to DefaultMutateExpected for the value. */
template <typename... Callbacks> Expected<Any> StructuralMutateExpected(Any root, Callbacks &&...callbacks) noexcept {
  static_assert(sizeof...(Callbacks) != 0, "a mutation needs a callback");
  using Engine = StructuralMutateEngine<StructuralMapEngineBase, std::decay_t<Callbacks>...>;
  return detail::Guarded<Any>([&] {
    return detail::MutateRoot(make_object<Engine>(std::forward<Callbacks>(callbacks)...).get(), std::move(root));
  });
}
/** StructuralMutateExpected, which throws the error. */
template <typename... Callbacks> Any StructuralMutate(Any root, Callbacks &&...callbacks) {
  return StructuralMutateExpected(std::move(root), std::forward<Callbacks>(callbacks)...).value();
}

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_MUTATE_H_ */
