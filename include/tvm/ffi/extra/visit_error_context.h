/* visit_error_context.h - which objects a recursive visit was in when an error was thrown, and where they are.
 *
 *   void Check(const ObjectRef &node) {
 *     TVM_FFI_VISIT_BEGIN();
 *     ...                                       (visits what node consists of)
 *     if (!IsValid(pair->lhs)) TVM_FFI_VISIT_THROW(ValueError, pair->lhs) << "invalid";
 *     TVM_FFI_VISIT_END(node);
 *   }
 *
 *   catch (const Error &error) {
 *     if (auto context = VisitErrorContext::TryGetFromError(error)) {
 *       for (const AccessPath &path : VisitErrorContext::FindAccessPaths(root, *context)) ...
 *
 * Visits and mutations (structural_visit.h, structural_mutate.h) note their objects by themselves. */
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

namespace tvm {
namespace ffi {
namespace detail {
inline constexpr char kFindAccessPathsName[] = "ffi.VisitErrorContext.FindAccessPaths";
} // namespace detail

class VisitErrorContextObj : public Object {
public:
  List<ObjectRef> reverse_visit_pattern; /* the innermost first; not all objects need to be in it */
  Optional<ObjectRef> prev_error_context; /* the extra context that the error had before */

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindUnsupported;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.VisitErrorContext", VisitErrorContextObj, Object);
};

/* The extra context of an error that came up in a visit. */
class VisitErrorContext : public ObjectRef {
public:
  explicit VisitErrorContext(ObjectPtr<VisitErrorContextObj> n) : ObjectRef(std::move(n)) {
    TVM_FFI_ICHECK(defined()) << "a VisitErrorContext is not null";
  }
  static Optional<VisitErrorContext> TryGetFromError(const Error &error) {
    std::optional<ObjectRef> context = error.extra_context();
    if (!context.has_value()) return std::nullopt;
    return context->as<VisitErrorContext>();
  }
  /* The paths from the root to where the objects of the context lie one inside the other; with allow_prefix_match also
   * those that a part of the objects leads to and that nothing longer begins with. */
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

/* Notes that an error leaves a value; those that are no objects are not noted, and nothing is when there is no memory.
 * Changes the error: nobody else may have it yet, but for the one of no memory, which all threads share. */
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
  } catch (const std::exception &) { /* without the note the error is still the error */
  }
}

/* UpdateVisitErrorContext for a result that is an Error. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline TVMFFIAny WithErrorContext(TVMFFIAny result, AnyView value) noexcept {
  Error error = AnyView::CopyFromTVMFFIAny(result).as_or_throw<Error>();
  UpdateVisitErrorContext(error, value);
  return result;
}

} // namespace detail
} // namespace ffi
} // namespace tvm

/* A visit of one object: notes it in the error that leaves between BEGIN and END, which is thrown on. */
#define TVM_FFI_VISIT_BEGIN() try {
#define TVM_FFI_VISIT_END(node)                                        \
  }                                                                    \
  catch (::tvm::ffi::Error & error_of_visit) {                         \
    ::tvm::ffi::detail::UpdateVisitErrorContext(error_of_visit, node); \
    throw;                                                             \
  }
/* TVM_FFI_VISIT_END for a function that returns an Expected: it returns the error. */
#define TVM_FFI_VISIT_END_RETURN_EXPECTED(node)                        \
  }                                                                    \
  catch (::tvm::ffi::Error & error_of_visit) {                         \
    ::tvm::ffi::detail::UpdateVisitErrorContext(error_of_visit, node); \
    return ::tvm::ffi::Unexpected(error_of_visit);                     \
  }

/* As TVM_FFI_THROW, of an object that no BEGIN and END is about, such as a child of the visited one. */
#define TVM_FFI_VISIT_THROW(ErrorKind, node)                                                                   \
  ::tvm::ffi::detail::ErrorBuilder(                                                                            \
      #ErrorKind, TVMFFIBacktrace(__FILE__, __LINE__, TVM_FFI_FUNC_SIG, 0), TVM_FFI_ALWAYS_LOG_BEFORE_THROW,   \
      ::std::nullopt, ::std::optional<::tvm::ffi::ObjectRef>(::tvm::ffi::detail::MakeVisitErrorContext(node))) \
      .stream()

#endif /* TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_ */
