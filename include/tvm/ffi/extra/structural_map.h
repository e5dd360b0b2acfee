/* structural_map.h - StructuralMap: a value with what callbacks by type make of the values in it, in one of two
 * orders.
 *
 *   Any mapped = StructuralMap<WalkOrder::kPostOrder>(
 *       std::move(root), [](int64_t value) -> Expected<Any> { return value + 1; },
 *       [&](const Var &var) -> Expected<UnchangedOr<Any>> { ...; return Unchanged(); });
 *
 * Before its contents, a callback says what is then mapped in place of a value; after them, it gets what they made of
 * it.
 * The first callback whose parameter matches is called, once for each occurrence. A variable is mapped where it is
 * defined, and what it became stands where it is used. A root that is given away, and what only it leads to, changes in
 * place. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_MAP_H_
#define TVM_FFI_EXTRA_STRUCTURAL_MAP_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/extra/structural_mutator.h>

#include <unordered_map>

namespace tvm {
namespace ffi {
namespace detail {
template <typename Engine, typename Parent> class MutatorEngine;
} // namespace detail

/* The mutator below all engines: it keeps what stands for what. */
class StructuralMapEngineBase : public StructuralMutatorObj {
public:
  using StateTupleType = std::tuple<>; /* what callbacks get beside the value: references into a derived class */

  explicit StructuralMapEngineBase(const StructuralMutatorVTable *vtable) : StructuralMutatorObj(vtable) {}

protected:
  StateTupleType StateTuple() const noexcept { return {}; }

private:
  struct Entry {
    Any var; /* keeps the key alive */
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
      Any replaced = std::exchange(remap[var.as<Object>()], Entry{var, mapped}).mapped; /* ends when remap is whole */
      return Any();
    }));
  }
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static TVMFFIAny NoObject() noexcept {
    return detail::AnyUnsafe::MoveAnyToTVMFFIAny(
        Any(Error("TypeError", "Expected an object as what another value stands for", "")));
  }

  std::unordered_map<const Object *, Entry> var_remap_;

  template <typename Engine, typename Parent> friend class detail::MutatorEngine;
};

namespace detail {

/* A mutator of class Engine, which is on top of Parent, a class derived from StructuralMapEngineBase.
 * Engine::MutateOne(value, mode) mutates a value, which may change if the mode is kAllow, and gives a raw result. */
template <typename Engine, typename Parent> class MutatorEngine : public Parent {
  static_assert(std::is_base_of_v<StructuralMapEngineBase, Parent>,
                "the Parent is derived from StructuralMapEngineBase");

protected:
  MutatorEngine() : Parent(&kTable) {}
  /* Parent's own, which may hide that of the classes below it. */
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

/* Maps one value. Engine::CallBack(value) gives a raw result: ffi.Unchanged where there is no callback. */
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
      held.reset(); /* not to be somebody else who has the value */
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

/* The mutator of StructuralMap. Parent, a class derived from StructuralMapEngineBase, may have states for the callbacks
 * as that of StructuralWalkEngine has, and a DefaultMutateExpected of its own. */
template <typename Parent, WalkOrder order, typename... Callbacks>
class StructuralMapEngine : public detail::MapEngine<StructuralMapEngine<Parent, order, Callbacks...>, Parent, order> {
public:
  using StateTupleType = typename Parent::StateTupleType;

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

/* As StructuralMapEngine, with callbacks that are known at run time only, by the type they are for, as
 * ffi.StructuralMap gets them. Those of the second array also get the TVMFFIDefRegionKind. */
template <typename Parent, WalkOrder order>
class StructuralMapDynEngine : public detail::MapEngine<StructuralMapDynEngine<Parent, order>, Parent, order> {
public:
  using CallbackArray = Array<Tuple<int32_t, Function>>;

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

/* What the root becomes, or the error of a callback or a hook, with a VisitErrorContext. ValueError for what is nested
 * too deeply. A callback gives a replacement, Unchanged, or an Expected or UnchangedOr of one, and does not change what
 * it gets. */
template <WalkOrder order, typename... Callbacks>
Expected<Any> StructuralMapExpected(Any root, Callbacks &&...callbacks) noexcept {
  static_assert(sizeof...(Callbacks) != 0, "a map needs a callback");
  using Engine = StructuralMapEngine<StructuralMapEngineBase, order, std::decay_t<Callbacks>...>;
  return detail::Guarded<Any>([&] {
    return detail::MutateRoot(make_object<Engine>(std::forward<Callbacks>(callbacks)...).get(), std::move(root));
  });
}
/* StructuralMapExpected, which throws the error. */
template <WalkOrder order, typename... Callbacks> Any StructuralMap(Any root, Callbacks &&...callbacks) {
  return StructuralMapExpected<order>(std::move(root), std::forward<Callbacks>(callbacks)...).value();
}

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_STRUCTURAL_MAP_H_ */
