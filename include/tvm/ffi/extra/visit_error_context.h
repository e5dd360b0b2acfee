/* visit_error_context.h - records the objects that a recursive visit was in when an error was thrown, and finds their
 * paths.
 *
 *   void Check(const ObjectRef &node) {
 *     TVM_FFI_VISIT_BEGIN();
 *     ...                                       (visits the parts of node)
 *     if (!IsValid(pair->lhs)) TVM_FFI_VISIT_THROW(ValueError, pair->lhs) << "invalid";
 *     TVM_FFI_VISIT_END(node);
 *   }
 *
 *   catch (const Error &error) {
 *     if (auto context = VisitErrorContext::TryGetFromError(error)) {
 *       for (const AccessPath &path : VisitErrorContext::FindAccessPaths(root, *context)) ...
 *
 * Visits and mutations (structural_visit.h, structural_mutate.h) record their objects automatically. */
#ifndef TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_
#define TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/access_path.h>

namespace tvm::ffi {
namespace detail {
inline constexpr char kFindAccessPathsName[] = "ffi.VisitErrorContext.FindAccessPaths";
} // namespace detail

/** The objects that a visit was in when an error was thrown. */
class VisitErrorContextObj : public Object {
public:
  List<ObjectRef> reverse_visit_pattern; /**< the innermost first; objects between two of them may be missing */
  Optional<ObjectRef> prev_error_context; /**< the extra context that the error had before */

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindUnsupported;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.VisitErrorContext", VisitErrorContextObj, Object);
};

/** The extra context of an error that was thrown in a visit. */
class VisitErrorContext : public ObjectRef {
public:
  /** From an object; InternalError for null. */
  explicit VisitErrorContext(ObjectPtr<VisitErrorContextObj> n) : ObjectRef(std::move(n)) {
    TVM_FFI_ICHECK(defined()) << "a VisitErrorContext is not null";
  }
  /** The context of an error; nullopt if it has none. */
  static Optional<VisitErrorContext> TryGetFromError(const Error &error) {
    std::optional<ObjectRef> context = error.extra_context();
    if (!context.has_value()) return std::nullopt;
    return context->as<VisitErrorContext>();
  }
  /** The paths from the root along which the objects of the context are nested in each other. With allow_prefix_match
   * also paths that match only the outer objects, unless a longer match continues them. */
  static Array<reflection::AccessPath> FindAccessPaths(const ObjectRef &root, const VisitErrorContext &context,
                                                       bool allow_prefix_match = false) {
    return detail::CoreFunction<detail::kFindAccessPathsName>()(root, context, allow_prefix_match)
        .cast<Array<reflection::AccessPath>>();
  }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(VisitErrorContext, ObjectRef, VisitErrorContextObj);
};

namespace detail {

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline VisitErrorContext MakeVisitErrorContext(const ObjectRef &node) {
  ObjectPtr<VisitErrorContextObj> context = make_object<VisitErrorContextObj>();
  context->reverse_visit_pattern = List<ObjectRef>{node};
  return VisitErrorContext(std::move(context));
}

/** Adds `value` to the context of an error that leaves its visit. Does nothing for a value that is not an object, and
 * without memory. The error is changed in place, so it must not be shared with another thread yet. A MemoryError stays
 * unchanged: all threads share one object. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void UpdateVisitErrorContext(Error &error, AnyView value) noexcept {
  if (value.type_index() < kTVMFFIStaticObjectBegin) return;
  try {
    if (error.kind() == "MemoryError") return;
    ObjectRef node = value.as_or_throw<ObjectRef>();
    std::optional<ObjectRef> before = error.extra_context();
    if (before.has_value() && before->as<VisitErrorContextObj>() != nullptr) {
      before->as_or_throw<VisitErrorContext>()->reverse_visit_pattern.push_back(node);
      return;
    }
    VisitErrorContext context = MakeVisitErrorContext(node);
    if (before.has_value()) context->prev_error_context = *before;
    ErrorObj *cell = const_cast<ErrorObj *>(static_cast<const ErrorObj *>(error.get()));
    TVMFFIObjectHandle old = cell->extra_context;
    cell->extra_context = ObjectUnsafe::MoveObjectRefToTVMFFIObjectPtr(std::move(context));
    if (old != nullptr) ObjectUnsafe::DecRefObjectHandle(old);
  } catch (const std::exception &) { /* the error is passed on without the addition */
  }
}

/** UpdateVisitErrorContext for a raw result that is an Error. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline TVMFFIAny WithErrorContext(TVMFFIAny result, AnyView value) noexcept {
  Error error = AnyView::CopyFromTVMFFIAny(result).as_or_throw<Error>();
  UpdateVisitErrorContext(error, value);
  return result;
}

} // namespace detail
} // namespace tvm::ffi

/** Put these around the visit of one object. An error that is thrown between them gets the object added to its context
 * and is thrown again. */
#define TVM_FFI_VISIT_BEGIN() try {
/** Ends the block of TVM_FFI_VISIT_BEGIN around the visit of `node`. */
#define TVM_FFI_VISIT_END(node)                                        \
  }                                                                    \
  catch (::tvm::ffi::Error & error_of_visit) {                         \
    ::tvm::ffi::detail::UpdateVisitErrorContext(error_of_visit, node); \
    throw;                                                             \
  }
/** As TVM_FFI_VISIT_END, for a function that returns an Expected: it returns the error. */
#define TVM_FFI_VISIT_END_RETURN_EXPECTED(node)                        \
  }                                                                    \
  catch (::tvm::ffi::Error & error_of_visit) {                         \
    ::tvm::ffi::detail::UpdateVisitErrorContext(error_of_visit, node); \
    return ::tvm::ffi::Unexpected(error_of_visit);                     \
  }

/** As TVM_FFI_THROW, with an object that has no BEGIN and END, such as a child of the visited object. */
#define TVM_FFI_VISIT_THROW(ErrorKind, node)                                                                   \
  ::tvm::ffi::detail::ErrorBuilder(                                                                            \
      #ErrorKind, TVMFFIBacktrace(__FILE__, __LINE__, TVM_FFI_FUNC_SIG, 0), TVM_FFI_ALWAYS_LOG_BEFORE_THROW,   \
      ::std::nullopt, ::std::optional<::tvm::ffi::ObjectRef>(::tvm::ffi::detail::MakeVisitErrorContext(node))) \
      .stream()

#endif /* TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_ */
