/* structural_mutator.h - StructuralMutator: makes changed copies of values; and the hook that defines the parts of a
 * class's objects.
 *
 * A mutator is called with a value and returns a replacement, Unchanged, or an error. A mutator mutates the parts of
 * the value by DefaultMutateExpected, which calls the mutator for each part and copies the value if one changed. If the
 * caller allows it, a value with one reference is changed in place instead. For most classes reflected fields are
 * enough; others have a hook:
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

namespace tvm::ffi {

/** Whether a value may be changed in place: only if the caller owns every reference on the way to it. Python's
 * InplaceMode has the same numbers. */
enum class InplaceMode : int32_t {
  kDisallow = 0, /**< a change makes a copy */
  kAllow = 1     /**< the value may be changed in place */
}; /**< no, or if the caller owns all references */

class StructuralMutatorObj;

/** Functions of mutators. Arguments are borrowed, the caller owns results. A result of type Error is an error. */
using FStructuralMutateABI = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView value) noexcept;
/** Returns the replacement of an object, or None. */
using FStructuralVarRemapGet = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView var) noexcept;
/** Stores the replacement of an object; returns None or an error. */
using FStructuralVarRemapSet = TVMFFIAny (*)(StructuralMutatorObj *mutator, AnyView var, AnyView mapped) noexcept;
/** FStructuralMutateABI as the attribute of a type; there it may also be a Function. */
using FStructuralMutate = reflection::NativeFunctionView<UnchangedOr<Any>(StructuralMutatorObj *, AnyView)>;

namespace type_attr {
/** Mutates the parts of an object, on a copy of it. */
inline constexpr reflection::AttrKey<FStructuralMutate> kStructuralMutate{"__s_mutate__"};
/** Mutates the parts of an object in the object itself, to which the caller has the only reference. A type with this
 * attribute also has kStructuralMutate. */
inline constexpr reflection::AttrKey<FStructuralMutate> kStructuralMaybeInplaceMutate{"__s_maybe_inplace_mutate__"};
} // namespace type_attr

/** The functions of a class of mutators. The table and the layout of a mutator are part of the ABI. */
struct StructuralMutatorVTable {
  FStructuralMutateABI mutate = nullptr;               /**< a replacement or ffi.Unchanged */
  FStructuralMutateABI maybe_inplace_mutate = nullptr; /**< may change the value in place, and then returns it */
  FStructuralVarRemapGet var_remap_get = nullptr;      /**< the replacement of an object, or None */
  FStructuralVarRemapSet var_remap_set = nullptr;      /**< returns None */
};

namespace detail {
inline constexpr char kDefaultMutateName[] = "ffi.StructuralMutatorDefaultMutate";
inline constexpr char kNativeDefaultMutateName[] = "ffi_hpy.native_default_mutate";
} // namespace detail

/** The base class of all mutators. A mutator is used for one mutation at a time, by one thread. */
class StructuralMutatorObj : public Object {
public:
  using MutatorObjType = StructuralMutatorObj; /**< callbacks get a pointer to this class */

  /** Mutates a value. With kAllow an object is changed in place if it has one reference, so the caller must not make
   * another reference before the call. Changes made in place before an error are not undone. */
  TVM_FFI_INLINE Expected<UnchangedOr<Any>> MutateExpected(AnyView value,
                                                           InplaceMode mode = InplaceMode::kDisallow) noexcept {
    const Object *object = mode == InplaceMode::kAllow ? value.as<Object>() : nullptr;
    bool is_inplace = object != nullptr && object->unique();
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<UnchangedOr<Any>>(
        (is_inplace ? vtable_->maybe_inplace_mutate : vtable_->mutate)(this, value));
  }
  /** As MutateExpected; throws the error. */
  TVM_FFI_INLINE UnchangedOr<Any> Mutate(AnyView value, InplaceMode mode = InplaceMode::kDisallow) {
    return MutateExpected(value, mode).value();
  }

  /** Mutates the parts of a value, not the value itself: by the hook of its type, else by its reflected fields, on a
   * copy. With kAllow the caller states that the value may be changed in place. */
  TVM_FFI_INLINE Expected<UnchangedOr<Any>> DefaultMutateExpected(AnyView value,
                                                                  InplaceMode mode = InplaceMode::kDisallow) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<UnchangedOr<Any>>(
        mode == InplaceMode::kAllow ? DefaultMutateInplace(value) : DefaultMutate(value));
  }

  /** The replacement of a variable or a node of a graph, made at its first occurrence; None if it has not been
   * mapped. */
  Expected<Any> VarRemapGetExpected(AnyView var) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<Any>(vtable_->var_remap_get(this, var));
  }
  /** Stores the replacement of a variable or of a node of a graph. */
  Expected<void> VarRemapSetExpected(AnyView var, AnyView mapped) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<void>(vtable_->var_remap_set(this, var, mapped));
  }

  /** As the functions of StructuralVisitorObj with these names. */
  TVMFFIDefRegionKind def_region_kind() const { return def_region_mode_; }
  /** Calls `callback` with def_region_kind() set to `kind`, and restores the kind afterwards. */
  template <typename Callback>
  auto WithDefRegionKind(TVMFFIDefRegionKind kind, Callback &&callback)
      -> decltype(std::forward<Callback>(callback)()) {
    detail::RegionScope scope(&def_region_mode_, kind);
    return std::forward<Callback>(callback)();
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.StructuralMutator", StructuralMutatorObj, Object);

protected:
  /** The table must not be null and must outlive the mutator. */
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
  /** For a core without the native function. The global function returns the same object if nothing changed. */
  static TVMFFIAny DefaultMutateByName(StructuralMutatorObj *self, AnyView value) noexcept {
    Expected<Any> result = detail::CoreFunction<detail::kDefaultMutateName>().CallExpected(self, value);
    AnyView made = detail::ExpectedUnsafe::GetData(std::as_const(result));
    return made.same_as(value) ? Unchanged().CopyToTVMFFIAny()
                               : detail::ExpectedUnsafe::MoveToTVMFFIAny(std::move(result));
  }
};

/** A reference to a mutator; never null. */
class StructuralMutator : public ObjectRef {
public:
  /** From an object; InternalError for null. */
  explicit StructuralMutator(ObjectPtr<StructuralMutatorObj> n) : ObjectRef(std::move(n)) {
    TVM_FFI_ICHECK(defined()) << "a StructuralMutator is not null";
  }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(StructuralMutator, ObjectRef, StructuralMutatorObj);
};

namespace detail {

/** A result as an Expected<T>: TypeError if the value is not a T. No check is needed if the static types prove that it
 * is. */
template <typename T, typename U> TVM_FFI_INLINE Expected<T> ResultAs(Expected<U> result) {
  if constexpr (type_subsumes_v<T, U>) {
    return result;
  } else {
    return std::move(result).template as_or_error<T>();
  }
}
/** ResultAs for a caller that knows that the result is a T. */
template <typename T, typename U> TVM_FFI_INLINE Expected<T> ResultKnownAs(Expected<U> result) {
  return ExpectedUnsafe::MoveFromTVMFFIAny<T>(ExpectedUnsafe::MoveToTVMFFIAny(std::move(result)));
}

/** Mutates a root, in place if the caller has moved its only reference. */
inline Expected<Any> MutateRoot(StructuralMutatorObj *mutator, Any root) {
  Expected<UnchangedOr<Any>> result = mutator->MutateExpected(root, InplaceMode::kAllow);
  if (result.is_err()) return std::move(result).error();
  return std::move(result).value().ValueOrUnchanged(std::move(root));
}

} // namespace detail
} // namespace tvm::ffi

/* ---- In functions that return an Expected ---- */

/** Returns from the function if `Result` is an error. */
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

/** Declares `Type Name` with the value of an Expected. Returns from the function with its error, or with a TypeError if
 * the value is not a Type. A type with a comma needs an alias. The macro expands to several statements, so it needs
 * braces after an if. */
#define TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN(Type, Name, ResultExpr) \
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN_(ResultAs, TVM_FFI_STR_CONCAT(tvm_ffi_result_, __COUNTER__), Type, Name, ResultExpr)
/** As TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN, without the check: the caller knows that the value is a Type. */
#define TVM_FFI_UNSAFE_S_MUTATE_ASSIGN_OR_RETURN(Type, Name, ResultExpr)                                          \
  TVM_FFI_S_MUTATE_ASSIGN_OR_RETURN_(ResultKnownAs, TVM_FFI_STR_CONCAT(tvm_ffi_result_, __COUNTER__), Type, Name, \
                                     ResultExpr)

#endif /* TVM_FFI_EXTRA_STRUCTURAL_MUTATOR_H_ */
