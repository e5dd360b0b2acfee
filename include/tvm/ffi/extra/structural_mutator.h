/* structural_mutator.h - StructuralMutator: what makes changed copies of values, and how a class says what its objects
 * consist of.
 *
 * A mutator is called with a value and gives what that becomes, Unchanged, or an error. It goes into what the value
 * consists of by DefaultMutateExpected, which calls it for each part and copies the value if one changed. Where the
 * caller allows it, and a value has one reference, it may be changed itself. Most classes need no more than reflected
 * fields; others have a hook:
 *
 *   Expected<UnchangedOr<Any>> MutateFoo(StructuralMutatorObj *mutator, AnyView value) noexcept {
 *     const FooObj *foo = value.as<FooObj>();
 *     TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(UnchangedOr<Expr>, a, mutator->MutateExpected(foo->a));
 *     if (a.UnchangedOrSameAs(foo->a)) return Unchanged();
 *     ObjectPtr<FooObj> copy = make_object<FooObj>(*foo);
 *     copy->a = std::move(a).ValueUnchecked();
 *     return copy;
 *   }
 *   TypeAttrDef<FooObj>().native_fn_attr<&MutateFoo>(type_attr::kStructuralMutate); */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_MUTATOR_H_
#define TVM_FFI_EXTRA_STRUCTURAL_MUTATOR_H_

#include <tvm/ffi/extra/structural_detail.h>
#include <tvm/ffi/extra/unchanged_or.h>
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/native_function.h>

namespace tvm {
namespace ffi {

/* Whether a value may be changed where it is: everything that leads to it belongs to the caller alone. The numbers are
 * those of Python's InplaceMode. */
enum class InplaceMode : int32_t { kDisallow = 0, kAllow = 1 };

class StructuralMutatorObj;

/* Functions of mutators. Arguments are borrowed; results are owned, and an error where it is one. */
using FStructuralMutateABI = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView value) noexcept;
using FStructuralVarRemapGet = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView var) noexcept;
using FStructuralVarRemapSet = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView var, AnyView mapped) noexcept;
/* The first as an attribute of types, where it may also be a Function. */
using FStructuralMutate = reflection::NativeFunctionView<UnchangedOr<Any>(StructuralMutatorObj *, AnyView)>;

namespace type_attr {
/* Mutates what an object consists of, on a copy. */
inline constexpr reflection::AttrKey<FStructuralMutate> kStructuralMutate{"__s_mutate__"};
/* Mutates what an object consists of in the object itself, which has one reference then. A type with this attribute has
 * kStructuralMutate, too. */
inline constexpr reflection::AttrKey<FStructuralMutate> kStructuralMaybeInplaceMutate{"__s_maybe_inplace_mutate__"};
} // namespace type_attr

/* What a class of mutators does. Part of the ABI, as the layout of a mutator is. */
struct StructuralMutatorVTable {
  FStructuralMutateABI mutate = nullptr;               /* a replacement or ffi.Unchanged */
  FStructuralMutateABI maybe_inplace_mutate = nullptr; /* the same; may change the value, which it gives back then */
  FStructuralVarRemapGet var_remap_get = nullptr;      /* what stands for an object, or None */
  FStructuralVarRemapSet var_remap_set = nullptr;      /* None */
};

namespace detail {
inline constexpr char kDefaultMutateName[] = "ffi.StructuralMutatorDefaultMutate";
inline constexpr char kNativeDefaultMutateName[] = "ffi_hpy.native_default_mutate";
} // namespace detail

/* The base of all mutators. One belongs to one mutation of one thread at a time. */
class StructuralMutatorObj : public Object {
public:
  using MutatorObjType = StructuralMutatorObj; /* what callbacks see of it */

  /* Mutates a value; kAllow asks whether it has one reference, so it is said before anybody takes another. What was
   * changed in place before an error stays changed. */
  TVM_FFI_INLINE Expected<UnchangedOr<Any>> MutateExpected(AnyView value,
                                                           InplaceMode mode = InplaceMode::kDisallow) noexcept {
    const Object *object = mode == InplaceMode::kAllow ? value.as<Object>() : nullptr;
    bool is_inplace = object != nullptr && object->unique();
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<UnchangedOr<Any>>(
        (is_inplace ? vtable_->maybe_inplace_mutate : vtable_->mutate)(this, value));
  }
  TVM_FFI_INLINE UnchangedOr<Any> Mutate(AnyView value, InplaceMode mode = InplaceMode::kDisallow) {
    return MutateExpected(value, mode).value();
  }

  /* Mutates what a value consists of, not the value itself: by a hook of its type, else by its reflected fields, on a
   * copy. kAllow means that the caller knows that it may change. */
  TVM_FFI_INLINE Expected<UnchangedOr<Any>> DefaultMutateExpected(AnyView value,
                                                                  InplaceMode mode = InplaceMode::kDisallow) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<UnchangedOr<Any>>(
        mode == InplaceMode::kAllow ? DefaultMutateInplace(value) : DefaultMutate(value));
  }

  /* What stands for an object, a variable or a node of a graph, since it was met: None if nothing does. */
  Expected<Any> VarRemapGetExpected(AnyView var) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<Any>(vtable_->var_remap_get(this, var));
  }
  Expected<void> VarRemapSetExpected(AnyView var, AnyView mapped) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<void>(vtable_->var_remap_set(this, var, mapped));
  }

  /* As those of StructuralVisitorObj. */
  TVMFFIDefRegionKind def_region_kind() const { return def_region_mode_; }
  template <typename Callback>
  auto WithDefRegionKind(TVMFFIDefRegionKind kind, Callback &&callback)
      -> decltype(std::forward<Callback>(callback)()) {
    detail::RegionScope scope(&def_region_mode_, kind);
    return std::forward<Callback>(callback)();
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.StructuralMutator", StructuralMutatorObj, Object);

protected:
  /* The table is not null and outlives the mutator. */
  explicit StructuralMutatorObj(const StructuralMutatorVTable *vtable) : vtable_(vtable) {}

  const StructuralMutatorVTable *vtable_;
  TVMFFIDefRegionKind def_region_mode_ = kTVMFFIDefRegionKindNone;

private:
  TVMFFIAny DefaultMutate(AnyView value) noexcept {
    static const reflection::TypeAttrColumn column(type_attr::kStructuralMutate);
    TVMFFIAny hook = column[value.type_index()].CopyToTVMFFIAny();
    if (TVM_FFI_PREDICT_TRUE(hook.type_index == kTVMFFIOpaquePtr)) return CallHook(hook, value);
    if (hook.type_index == kTVMFFINone && value.type_index() < kTVMFFIStaticObjectBegin) {
      return Unchanged().CopyToTVMFFIAny();
    }
    return detail::CoreAddress<detail::kNativeDefaultMutateName>(&DefaultMutateByName)(this, value);
  }
  TVMFFIAny DefaultMutateInplace(AnyView value) noexcept {
    static const reflection::TypeAttrColumn column(type_attr::kStructuralMaybeInplaceMutate);
    AnyView hook = column[value.type_index()];
    if (TVM_FFI_PREDICT_TRUE(hook.type_index() == kTVMFFIOpaquePtr)) return CallHook(hook.CopyToTVMFFIAny(), value);
    std::optional<FStructuralMutate> mutate = hook.as<FStructuralMutate>();
    if (!mutate.has_value()) return DefaultMutate(value);
    return detail::Noted(detail::ExpectedUnsafe::MoveToTVMFFIAny(mutate->CallExpected(this, value)), value);
  }
  TVM_FFI_INLINE TVMFFIAny CallHook(TVMFFIAny hook, AnyView value) noexcept {
    return detail::Noted(reinterpret_cast<FStructuralMutateABI>(hook.v_ptr)(this, value), value);
  }
  /* This function gives the object itself where nothing changed. */
  static TVMFFIAny DefaultMutateByName(StructuralMutatorObj *self, AnyView value) noexcept {
    Expected<Any> result = detail::CoreFunction<detail::kDefaultMutateName>().CallExpected(self, value);
    AnyView made = detail::ExpectedUnsafe::GetData(std::as_const(result));
    return made.same_as(value) ? Unchanged().CopyToTVMFFIAny()
                               : detail::ExpectedUnsafe::MoveToTVMFFIAny(std::move(result));
  }
};

class StructuralMutator : public ObjectRef {
public:
  explicit StructuralMutator(ObjectPtr<StructuralMutatorObj> n) : ObjectRef(std::move(n)) {
    TVM_FFI_ICHECK(defined()) << "a StructuralMutator is not null";
  }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(StructuralMutator, ObjectRef, StructuralMutatorObj);
};

namespace detail {

/* A result as one of T: TypeError where it is another value. Nothing is checked that is known already. */
template <typename T, typename U> TVM_FFI_INLINE Expected<T> ResultAs(Expected<U> result) {
  if constexpr (type_subsumes_v<T, U>) {
    return result;
  } else {
    return std::move(result).template as_or_error<T>();
  }
}
/* ResultAs for a caller that knows that the result is a T. */
template <typename T, typename U> TVM_FFI_INLINE Expected<T> ResultKnownAs(Expected<U> result) {
  return ExpectedUnsafe::MoveFromTVMFFIAny<T>(ExpectedUnsafe::MoveToTVMFFIAny(std::move(result)));
}

/* What a root becomes. */
inline Expected<Any> MutateRoot(StructuralMutatorObj *mutator, Any root) {
  Expected<UnchangedOr<Any>> result = mutator->MutateExpected(root, InplaceMode::kAllow);
  if (result.is_err()) return std::move(result).error();
  return std::move(result).value().ValueOrUnchanged(std::move(root));
}

} // namespace detail
} // namespace ffi
} // namespace tvm

/* ---- In functions that return an Expected ---- */

/* Returns the error of an Expected if it is one. */
#define TVM_FFI_S_MUTATE_MAYBE_EARLY_RETURN(Result)                        \
  do {                                                                     \
    auto &&tvm_ffi_mutated = (Result);                                     \
    if (TVM_FFI_PREDICT_FALSE(tvm_ffi_mutated.is_err())) {                 \
      return ::tvm::ffi::Unexpected(::std::move(tvm_ffi_mutated).error()); \
    }                                                                      \
  } while (0)

#define TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN_(Convert, Result, Type, Name, ResultExpr) \
  auto Result = ::tvm::ffi::detail::Convert<Type>(ResultExpr);                      \
  TVM_FFI_S_MUTATE_MAYBE_EARLY_RETURN(Result);                                      \
  Type Name = ::std::move(Result).value()

/* Type Name = the value of an Expected; returns its error, or a TypeError if it is no Type. A type with a comma needs a
 * name of its own. These are statements, to be put in braces. */
#define TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(Type, Name, ResultExpr) \
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN_(ResultAs, TVM_FFI_STR_CONCAT(tvm_ffi_result_, __COUNTER__), Type, Name, ResultExpr)
/* TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN for a caller that knows that the value is a Type. */
#define TVM_FFI_UNSAFE_S_MUTATE_ASSIGN_OR_RETURN(Type, Name, ResultExpr)                                          \
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN_(ResultKnownAs, TVM_FFI_STR_CONCAT(tvm_ffi_result_, __COUNTER__), Type, Name, \
                                     ResultExpr)

#endif /* TVM_FFI_EXTRA_STRUCTURAL_MUTATOR_H_ */
