/* dataclass.h - copying, printing, hashing and comparing any value by its reflected fields.
 *
 * The depth of nesting does not matter: the traversal does not use the C stack. Errors are thrown: a TypeError for a
 * value that cannot be copied, hashed or ordered, and the errors of hooks. */
#ifndef TVM_FFI_EXTRA_DATACLASS_H_
#define TVM_FFI_EXTRA_DATACLASS_H_

#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/accessor.h>

#include <ostream>

namespace tvm::ffi {
namespace detail {
inline constexpr char kDeepCopyName[] = "ffi.DeepCopy";
inline constexpr char kReprPrintName[] = "ffi.ReprPrint";
inline constexpr char kRecursiveHashName[] = "ffi.RecursiveHash";
inline constexpr char kRecursiveEqName[] = "ffi.RecursiveEq";
inline constexpr char kRecursiveLtName[] = "ffi.RecursiveLt";
inline constexpr char kRecursiveLeName[] = "ffi.RecursiveLe";
inline constexpr char kRecursiveGtName[] = "ffi.RecursiveGt";
inline constexpr char kRecursiveGeName[] = "ffi.RecursiveGe";
} // namespace detail

/** A copy that shares no mutable object with `value`. An object that occurs twice in the value is copied once. */
inline Any DeepCopy(const Any &value) { return detail::CoreFunction<detail::kDeepCopyName>()(value); }

/** Python's repr() of the value; "..." where a value contains itself. */
inline String ReprPrint(const Any &value) {
  return detail::CoreFunction<detail::kReprPrintName>()(value).cast<String>();
}

/** A hash; values that are RecursiveEq have equal hashes. */
inline int64_t RecursiveHash(const Any &value) {
  return detail::CoreFunction<detail::kRecursiveHashName>()(value).cast<int64_t>();
}

/** Compare field by field, in the order of definition. None is less than everything else. Values of different types
 * cannot be ordered. */
inline bool RecursiveEq(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveEqName>()(lhs, rhs).cast<bool>();
}
/** Whether `lhs` is less than `rhs`, compared field by field; TypeError for types without an order. */
inline bool RecursiveLt(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveLtName>()(lhs, rhs).cast<bool>();
}
/** Whether `lhs` is not greater than `rhs`, compared field by field; TypeError for types without an order. */
inline bool RecursiveLe(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveLeName>()(lhs, rhs).cast<bool>();
}
/** Whether `lhs` is greater than `rhs`, compared field by field; TypeError for types without an order. */
inline bool RecursiveGt(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveGtName>()(lhs, rhs).cast<bool>();
}
/** Whether `lhs` is not less than `rhs`, compared field by field; TypeError for types without an order. */
inline bool RecursiveGe(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveGeName>()(lhs, rhs).cast<bool>();
}

/* ---- Streams: ReprPrint prints a type that has no operator<< ---- */

/* A template, so that the compiler does not look for a conversion of each printed value to Any. */
template <typename T, typename = std::enable_if_t<std::is_same_v<T, Any> || std::is_same_v<T, AnyView>>>
inline std::ostream &operator<<(std::ostream &os, const T &value) {
  return os << ReprPrint(value);
}
inline std::ostream &operator<<(std::ostream &os, const ObjectRef &value) { return os << ReprPrint(value); }
template <typename... V> std::ostream &operator<<(std::ostream &os, const Variant<V...> &value) {
  return os << ReprPrint(value);
}
template <typename T> std::ostream &operator<<(std::ostream &os, const Optional<T> &value) {
  return os << ReprPrint(value);
}

/* ---- Hooks of a type, which replace the visit of its fields. Each is called with the object, and a function to call
 * for its parts ---- */

namespace type_attr {
/** Makes the text of an object. */
inline constexpr reflection::AttrKey<TypedFunction<String(const Object *, const TypedFunction<String(AnyView)> &)>>
    kRepr{"__ffi_repr__"};
/** Makes the hash of an object. */
inline constexpr reflection::AttrKey<TypedFunction<int64_t(const Object *, const TypedFunction<int64_t(AnyView)> &)>>
    kHash{"__ffi_hash__"};
/** Compares two objects for equality. */
inline constexpr reflection::AttrKey<
    TypedFunction<bool(const Object *, const Object *, const TypedFunction<bool(AnyView, AnyView)> &)>>
    kEq{"__ffi_eq__"};
/** Returns a number below 0, 0, or above 0. The order also decides equality for a type without kEq. */
inline constexpr reflection::AttrKey<
    TypedFunction<int32_t(const Object *, const Object *, const TypedFunction<int32_t(AnyView, AnyView)> &)>>
    kCompare{"__ffi_compare__"};
} // namespace type_attr

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_DATACLASS_H_ */
