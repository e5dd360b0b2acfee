/* structural_visitor.h - StructuralVisitor: visits values; and the hook that defines the parts of a class's objects.
 *
 * A visitor is called with a value. A visitor returns nothing to continue, a VisitInterrupt to end the visit, or an
 * error. A visitor visits the parts of the value by DefaultVisitExpected, which calls the visitor for each part. The
 * parts are the reflected fields, or the items of a container, or the values that the hook of the class visits:
 *
 *   Expected<Optional<VisitInterrupt>> VisitFoo(StructuralVisitorObj *visitor, AnyView value) noexcept {
 *     const FooObj *foo = value.as<FooObj>();
 *     TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(foo->a));
 *     TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(visitor->VisitExpected(foo->b));
 *     return Optional<VisitInterrupt>(std::nullopt);
 *   }
 *   TypeAttrDef<FooObj>().native_fn_attr<&VisitFoo>(type_attr::kStructuralVisit); */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_VISITOR_H_
#define TVM_FFI_EXTRA_STRUCTURAL_VISITOR_H_

#include <tvm/ffi/extra/structural_detail.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/native_function.h>

namespace tvm::ffi {

/** The reason of an early end of a visit. */
class VisitInterruptObj : public Object {
public:
  Any value; /**< any value, chosen by the code that ends the visit */

  VisitInterruptObj() = default;
  /** An interrupt with a value for the caller of the visit. */
  explicit VisitInterruptObj(Any payload) : value(std::move(payload)) {}
  static constexpr int32_t _type_index = kTVMFFIVisitInterrupt;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIVisitInterrupt, VisitInterruptObj, Object);
};
/** A reference to an interrupt: a visit that gets one ends early and returns it. */
class VisitInterrupt : public ObjectRef {
public:
  /** An interrupt with None. */
  VisitInterrupt() : VisitInterrupt(Any()) {}
  /** An interrupt with a value for the caller of the visit. */
  explicit VisitInterrupt(Any value) : ObjectRef(make_object<VisitInterruptObj>(std::move(value))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(VisitInterrupt, ObjectRef, VisitInterruptObj);
};

class StructuralVisitorObj;

/** The function that visits a value, which it borrows. The result is an Expected<Optional<VisitInterrupt>> as a value:
 * None, a VisitInterrupt or an Error. */
using FStructuralVisitABI = TVMFFIAny (*)(StructuralVisitorObj *visitor, AnyView value) noexcept;
/** FStructuralVisitABI as an attribute of types, where it may also be a Function. */
using FStructuralVisit = reflection::NativeFunctionView<Optional<VisitInterrupt>(StructuralVisitorObj *, AnyView)>;

namespace type_attr {
/** Visits the parts of an object. */
inline constexpr reflection::AttrKey<FStructuralVisit> kStructuralVisit{"__s_visit__"};
} // namespace type_attr

/** The functions of a class of visitors. The table and the layout of a visitor are part of the ABI. */
struct StructuralVisitorVTable {
  FStructuralVisitABI visit = nullptr; /**< returns None, a VisitInterrupt or an error */
};

namespace detail {
inline constexpr char kDefaultVisitName[] = "ffi.StructuralVisitorDefaultVisit";
inline constexpr char kNativeDefaultVisitName[] = "ffi_hpy.native_default_visit";
} // namespace detail

/** The base class of all visitors. A visitor is used for one visit at a time, by one thread. */
class StructuralVisitorObj : public Object {
public:
  using VisitorObjType = StructuralVisitorObj; /**< callbacks get a pointer to this class */
  using StateTupleType = std::tuple<>;         /**< references into a derived class, passed to callbacks */

  /** Visits a value; the caller keeps it alive. */
  TVM_FFI_INLINE Expected<Optional<VisitInterrupt>> VisitExpected(AnyView value) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<Optional<VisitInterrupt>>(vtable_->visit(this, value));
  }
  /** As VisitExpected; throws the error. */
  TVM_FFI_INLINE Optional<VisitInterrupt> Visit(AnyView value) { return VisitExpected(value).value(); }

  /** Visits the parts of a value, not the value itself: by the hook of its type, else by its reflected fields. A hook
   * must not call this with its own value: the recursion would not end. */
  TVM_FFI_INLINE Expected<Optional<VisitInterrupt>> DefaultVisitExpected(AnyView value) noexcept {
    return detail::ExpectedUnsafe::MoveFromTVMFFIAny<Optional<VisitInterrupt>>(DefaultVisit(value));
  }

  /** The definition region of the visit. In kTVMFFIDefRegionKindSimple the hook of a variable visits the variable's
   * parts in kTVMFFIDefRegionKindNone; a variable without a hook does that automatically. */
  TVMFFIDefRegionKind def_region_kind() const { return def_region_mode_; }
  /** Calls callback() in another region and returns its result. Inside a pattern region the region does not change. */
  template <typename Callback>
  auto WithDefRegionKind(TVMFFIDefRegionKind kind, Callback &&callback)
      -> decltype(std::forward<Callback>(callback)()) {
    detail::RegionScope scope(&def_region_mode_, kind);
    return std::forward<Callback>(callback)();
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.StructuralVisitor", StructuralVisitorObj, Object);

protected:
  /** The table must not be null and must outlive the visitor. */
  explicit StructuralVisitorObj(const StructuralVisitorVTable *vtable) : vtable_(vtable) {}
  StateTupleType StateTuple() const noexcept { return {}; }

  const StructuralVisitorVTable *vtable_;
  TVMFFIDefRegionKind def_region_mode_ = kTVMFFIDefRegionKindNone;

private:
  TVMFFIAny DefaultVisit(AnyView value) noexcept {
    static const reflection::TypeAttrColumn column(type_attr::kStructuralVisit);
    TVMFFIAny hook = column[value.type_index()].CopyToTVMFFIAny();
    if (TVM_FFI_PREDICT_TRUE(hook.type_index == kTVMFFIOpaquePtr)) {
      return reinterpret_cast<FStructuralVisitABI>(hook.v_ptr)(this, value);
    }
    if (hook.type_index == kTVMFFINone && value.type_index() < kTVMFFIStaticObjectBegin) return hook;
    return detail::CoreAddress<detail::kNativeDefaultVisitName>(&DefaultVisitByName)(this, value);
  }
  static TVMFFIAny DefaultVisitByName(StructuralVisitorObj *self, AnyView value) noexcept {
    return detail::ExpectedUnsafe::MoveToTVMFFIAny(
        detail::CoreFunction<detail::kDefaultVisitName>().CallExpected<Optional<VisitInterrupt>>(self, value));
  }
};

/** A reference to a visitor; never null. */
class StructuralVisitor : public ObjectRef {
public:
  /** From an object; InternalError for null. */
  explicit StructuralVisitor(ObjectPtr<StructuralVisitorObj> n) : ObjectRef(std::move(n)) {
    TVM_FFI_ICHECK(defined()) << "a StructuralVisitor is not null";
  }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(StructuralVisitor, ObjectRef, StructuralVisitorObj);
};

namespace detail {

/** Whether a result ends the visit. */
inline bool StructuralVisitNeedEarlyReturn(const Optional<VisitInterrupt> &result) noexcept {
  return result.has_value();
}
template <typename T> bool StructuralVisitNeedEarlyReturn(const Expected<T> &result) noexcept {
  return result.type_index() == kTVMFFIError || result.type_index() == kTVMFFIVisitInterrupt;
}

/** Visits a root and keeps it alive during the visit, because a callback may change the variable of the caller that
 * holds it. */
inline Expected<Optional<VisitInterrupt>> VisitRoot(StructuralVisitorObj *visitor, AnyView root) {
  Any kept = root.type_index() < kTVMFFIStaticObjectBegin ? Any() : Any(root);
  return visitor->VisitExpected(root);
}

/** Base of an Engine, which derives from it. Parent is derived from StructuralVisitorObj. Engine::VisitOne visits a
 * value that is not None and returns a raw result. */
template <typename Engine, typename Parent> class VisitorEngine : public Parent {
  static_assert(std::is_base_of_v<StructuralVisitorObj, Parent>, "the Parent is derived from StructuralVisitorObj");

protected:
  VisitorEngine() : Parent(&kTable) {}
  /** Calls Parent's DefaultVisitExpected, which may hide the function of its base classes. */
  TVMFFIAny DescendInto(AnyView value) noexcept {
    return ExpectedUnsafe::MoveToTVMFFIAny(Parent::DefaultVisitExpected(value));
  }

private:
  static TVMFFIAny DispatchVisit(StructuralVisitorObj *self, AnyView value) noexcept {
    if (TVM_FFI_PREDICT_FALSE(value == nullptr)) return AnyView().CopyToTVMFFIAny();
    Engine *engine = static_cast<Engine *>(self);
    return Noted(engine->stack_use_.Call([&] { return engine->VisitOne(value); }), value);
  }
  static constexpr StructuralVisitorVTable kTable{&DispatchVisit};

  StackUse stack_use_;
};

} // namespace detail
} // namespace tvm::ffi

/** For a function that visits its parts one by one: returns `Result` if it ends the visit. */
#define TVM_FFI_S_VISIT_MAYBE_EARLY_RETURN(Result)                                                    \
  do {                                                                                                \
    auto &&tvm_ffi_visited = (Result);                                                                \
    if (TVM_FFI_PREDICT_FALSE(::tvm::ffi::detail::StructuralVisitNeedEarlyReturn(tvm_ffi_visited))) { \
      return ::std::move(tvm_ffi_visited);                                                            \
    }                                                                                                 \
  } while (0)

#endif /* TVM_FFI_EXTRA_STRUCTURAL_VISITOR_H_ */
