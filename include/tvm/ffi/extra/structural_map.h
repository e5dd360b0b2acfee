/* structural_map.h - StructuralMap: replaces the values in a value by the results of callbacks. Callbacks are chosen by
 * type and called in one of two orders.
 *
 *   Any mapped = StructuralMap<WalkOrder::kPostOrder>(
 *       std::move(root), [](int64_t value) -> Expected<Any> { return value + 1; },
 *       [&](const Var &var) -> Expected<UnchangedOr<Any>> { ...; return Unchanged(); });
 *
 * In pre-order a callback replaces a value, and then the parts of the replacement are mapped. In post-order the parts
 * are mapped first, and the callback gets the value made of the mapped parts.
 *
 * The first callback whose parameter matches is called, once for each occurrence of a value. A variable is mapped where
 * it is defined, and its uses get the result. A root that the caller moves in is changed in place, with all objects
 * that only the root refers to. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_MAP_H_
#define TVM_FFI_EXTRA_STRUCTURAL_MAP_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/extra/structural_mutator.h>

#include <unordered_map>

namespace tvm::ffi {
namespace detail {
template <typename Engine, typename Parent> class MutatorEngine;
} // namespace detail

/** The base of the mutators of maps and mutations. The base stores the replacement of each variable. */
class StructuralMapEngineBase : public StructuralMutatorObj {
public:
  using StateTupleType = std::tuple<>; /**< references into a derived class, passed to callbacks after the value */

  /** The table must not be null and must outlive the mutator. */
  explicit StructuralMapEngineBase(const StructuralMutatorVTable *vtable) : StructuralMutatorObj(vtable) {}

protected:
  StateTupleType StateTuple() const noexcept { return {}; }

private:
  struct Entry {
    Any var; /**< keeps the key alive */
    Any mapped;
  };

  static TVMFFIAny VarRemapGet(StructuralMutatorObj *self, AnyView var) noexcept {
    const auto &remap = static_cast<StructuralMapEngineBase *>(self)->var_remap_;
    if (var.type_index() < kTVMFFIStaticObjectBegin) return NoObject();
    auto found = remap.find(var.as<Object>());
    return detail::AnyUnsafe::MoveAnyToTVMFFIAny(found == remap.end() ? Any() : Any(found->second.mapped));
  }
  static TVMFFIAny VarRemapSet(StructuralMutatorObj *self, AnyView var, AnyView mapped) noexcept {
    auto &remap = static_cast<StructuralMapEngineBase *>(self)->var_remap_;
    if (var.type_index() < kTVMFFIStaticObjectBegin) return NoObject();
    return detail::ExpectedUnsafe::MoveToTVMFFIAny(detail::Guarded<Any>([&]() -> Expected<Any> {
      Any replaced = std::exchange(remap[var.as<Object>()], Entry{var, mapped}).mapped; /* released last */
      return Any();
    }));
  }
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static TVMFFIAny NoObject() noexcept {
    return detail::AnyUnsafe::MoveAnyToTVMFFIAny(
        Any(Error("TypeError", "Expected an object as the value to replace", "")));
  }

  std::unordered_map<const Object *, Entry> var_remap_;

  template <typename Engine, typename Parent> friend class detail::MutatorEngine;
};

namespace detail {

/** Base of an Engine, which derives from it. Parent is derived from StructuralMapEngineBase. Engine::MutateOne(value,
 * mode) mutates a value, which it may change in place if the mode is kAllow, and returns a raw result. */
template <typename Engine, typename Parent> class MutatorEngine : public Parent {
  static_assert(std::is_base_of_v<StructuralMapEngineBase, Parent>,
                "the Parent is derived from StructuralMapEngineBase");

protected:
  MutatorEngine() : Parent(&kTable) {}
  /** Calls Parent's DefaultMutateExpected, which may hide the function of its base classes. */
  TVM_FFI_INLINE TVMFFIAny DescendInto(AnyView value, InplaceMode mode) noexcept {
    return ExpectedUnsafe::MoveToTVMFFIAny(Parent::DefaultMutateExpected(value, mode));
  }

private:
  template <InplaceMode kMode> static TVMFFIAny DispatchMutate(StructuralMutatorObj *self, AnyView value) noexcept {
    Engine *engine = static_cast<Engine *>(self);
    return engine->stack_use_.Call([&] { return engine->MutateOne(value, kMode); });
  }
  static constexpr StructuralMutatorVTable kTable{
      &DispatchMutate<InplaceMode::kDisallow>, &DispatchMutate<InplaceMode::kAllow>,
      &StructuralMapEngineBase::VarRemapGet, &StructuralMapEngineBase::VarRemapSet};

  StackUse stack_use_;
};

/** Maps one value. Engine::CallBack(value) returns a raw result: ffi.Unchanged if no callback matches. */
template <typename Engine, typename Parent, WalkOrder order> class MapEngine : public MutatorEngine<Engine, Parent> {
protected:
  TVM_FFI_INLINE TVMFFIAny MutateOne(AnyView value, InplaceMode mode) noexcept {
    return order == WalkOrder::kPreOrder ? MapBefore(value, mode) : MapAfter(value, mode);
  }

private:
  TVMFFIAny MapBefore(AnyView value, InplaceMode mode) noexcept {
    TVMFFIAny said = WhatIsSaid(value);
    if (said.type_index == kTVMFFIUnchanged) return this->DescendInto(value, mode);
    if (TVM_FFI_PREDICT_FALSE(said.type_index == kTVMFFIError)) return said;
    Any held = AnyUnsafe::MoveTVMFFIAnyRawToAny(said);
    if (AnyView(held).same_as(value)) {
      held.reset(); /* a second reference would prevent a change in place */
      return this->DescendInto(value, mode);
    }
    const Object *object = held.as<Object>();
    bool is_own = object != nullptr && object->unique();
    TVMFFIAny made = this->DescendInto(held, is_own ? mode : InplaceMode::kDisallow);
    return made.type_index == kTVMFFIUnchanged ? AnyUnsafe::MoveAnyToTVMFFIAny(std::move(held)) : made;
  }
  TVMFFIAny MapAfter(AnyView value, InplaceMode mode) noexcept {
    TVMFFIAny made = this->DescendInto(value, mode);
    if (TVM_FFI_PREDICT_FALSE(made.type_index == kTVMFFIError)) return made;
    bool stays = made.type_index == kTVMFFIUnchanged;
    TVMFFIAny said = WhatIsSaid(stays ? value : AnyView::CopyFromTVMFFIAny(made));
    if (said.type_index == kTVMFFIUnchanged) return made;
    AnyUnsafe::MoveTVMFFIAnyRawToAny(made).reset();
    return said;
  }
  TVM_FFI_INLINE TVMFFIAny WhatIsSaid(AnyView value) noexcept {
    return Noted(static_cast<Engine *>(this)->CallBack(value), value);
  }
};

} // namespace detail

/** The mutator of StructuralMap. Parent is derived from StructuralMapEngineBase. Parent may have states for the
 * callbacks, like the Parent of StructuralWalkEngine, and its own DefaultMutateExpected. */
template <typename Parent, WalkOrder order, typename... Callbacks>
class StructuralMapEngine : public detail::MapEngine<StructuralMapEngine<Parent, order, Callbacks...>, Parent, order> {
public:
  /** The types of the states that callbacks get. */
  using StateTupleType = typename Parent::StateTupleType;

  /** Takes one callback or more. */
  explicit StructuralMapEngine(Callbacks... callbacks) : callbacks_(std::move(callbacks)...) {}

private:
  TVMFFIAny CallBack(AnyView value) noexcept {
    TVMFFIAny said = Unchanged().CopyToTVMFFIAny();
    detail::TryCallbacks(callbacks_, value, [&](auto &callback, auto &&matched) {
      StateTupleType states = this->StateTuple();
      said = detail::ExpectedUnsafe::MoveToTVMFFIAny(detail::CallWithStates<Any>(
          callback, std::forward<decltype(matched)>(matched), states, this->def_region_kind()));
    });
    return said;
  }

  std::tuple<Callbacks...> callbacks_;

  template <typename Engine, typename Base> friend class detail::MutatorEngine;
  template <typename Engine, typename Base, WalkOrder when> friend class detail::MapEngine;
};

/** As StructuralMapEngine, for the callbacks of ffi.StructuralMap, which are known at run time only: arrays of pairs of
 * a type index and a function. Functions of the second array also get the TVMFFIDefRegionKind. */
template <typename Parent, WalkOrder order>
class StructuralMapDynEngine : public detail::MapEngine<StructuralMapDynEngine<Parent, order>, Parent, order> {
public:
  /** Pairs of a type index and the function for values of that type. */
  using CallbackArray = Array<Tuple<int32_t, Function>>;

  /** Takes the callbacks with and without the region as a parameter. */
  StructuralMapDynEngine(CallbackArray callbacks, CallbackArray callbacks_with_def_region_kind)
      : callbacks_(std::move(callbacks)), callbacks_with_region_(std::move(callbacks_with_def_region_kind)) {}

private:
  TVMFFIAny CallBack(AnyView value) noexcept {
    if (std::optional<Function> plain = Find(callbacks_, value.type_index())) {
      return detail::ExpectedUnsafe::MoveToTVMFFIAny(plain->CallExpected(value));
    }
    if (std::optional<Function> wide = Find(callbacks_with_region_, value.type_index())) {
      return detail::ExpectedUnsafe::MoveToTVMFFIAny(wide->CallExpected(value, this->def_region_kind()));
    }
    return Unchanged().CopyToTVMFFIAny();
  }
  static std::optional<Function> Find(const CallbackArray &callbacks, int32_t type_index) {
    for (const Tuple<int32_t, Function> &entry : callbacks) {
      if (detail::RuntimeTypeIndexMatch(type_index, entry.template get<0>())) return entry.template get<1>();
    }
    return std::nullopt;
  }

  CallbackArray callbacks_;
  CallbackArray callbacks_with_region_;

  template <typename Engine, typename Base> friend class detail::MutatorEngine;
  template <typename Engine, typename Base, WalkOrder when> friend class detail::MapEngine;
};

/** The replacement of the root, or the error of a callback or a hook, with a VisitErrorContext. ValueError for a value
 * that is nested too deeply. A callback returns a replacement, Unchanged, or an Expected or UnchangedOr of a
 * replacement. A callback must not change the value that it gets. */
template <WalkOrder order, typename... Callbacks>
Expected<Any> StructuralMapExpected(Any root, Callbacks &&...callbacks) noexcept {
  static_assert(sizeof...(Callbacks) != 0, "a map needs a callback");
  using Engine = StructuralMapEngine<StructuralMapEngineBase, order, std::decay_t<Callbacks>...>;
  return detail::Guarded<Any>([&] {
    return detail::MutateRoot(make_object<Engine>(std::forward<Callbacks>(callbacks)...).get(), std::move(root));
  });
}
/** StructuralMapExpected, which throws the error. */
template <WalkOrder order, typename... Callbacks> Any StructuralMap(Any root, Callbacks &&...callbacks) {
  return StructuralMapExpected<order>(std::move(root), std::forward<Callbacks>(callbacks)...).value();
}

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_MAP_H_ */
