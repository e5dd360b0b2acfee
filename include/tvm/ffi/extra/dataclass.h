/* dataclass.h - copying, printing, hashing and comparing any value by its reflected fields.
 *
 * Whatever is nested how deep: none of it uses up the C stack. Errors are thrown: TypeError for what cannot be copied,
 * hashed or ordered, and what hooks of a type throw. */
#ifndef TVM_FFI_EXTRA_DATACLASS_H_
#define TVM_FFI_EXTRA_DATACLASS_H_

#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/accessor.h>

#include <ostream>

namespace tvm {
namespace ffi {
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

/* A copy that shares nothing that can change; objects that the value has twice are copied once. */
inline Any DeepCopy(const Any &value) { return detail::CoreFunction<detail::kDeepCopyName>()(value); }

/* As Python's repr() prints it; "..." where a value contains itself. */
inline String ReprPrint(const Any &value) {
  return detail::CoreFunction<detail::kReprPrintName>()(value).cast<String>();
}

/* A hash that values have in common which are RecursiveEq. */
inline int64_t RecursiveHash(const Any &value) {
  return detail::CoreFunction<detail::kRecursiveHashName>()(value).cast<int64_t>();
}

/* Field by field, in the order of their definition. None is below everything; other types have an order of their own
 * only. */
inline bool RecursiveEq(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveEqName>()(lhs, rhs).cast<bool>();
}
inline bool RecursiveLt(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveLtName>()(lhs, rhs).cast<bool>();
}
inline bool RecursiveLe(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveLeName>()(lhs, rhs).cast<bool>();
}
inline bool RecursiveGt(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveGtName>()(lhs, rhs).cast<bool>();
}
inline bool RecursiveGe(const Any &lhs, const Any &rhs) {
  return detail::CoreFunction<detail::kRecursiveGeName>()(lhs, rhs).cast<bool>();
}

/* ---- Streams: what has no operator<< of its own is printed as ReprPrint does ---- */

inline std::ostream &operator<<(std::ostream &os, const Any &value) { return os << ReprPrint(value); }
inline std::ostream &operator<<(std::ostream &os, const ObjectRef &value) { return os << ReprPrint(value); }
template <typename... V> std::ostream &operator<<(std::ostream &os, const Variant<V...> &value) {
  return os << ReprPrint(value);
}
template <typename T> std::ostream &operator<<(std::ostream &os, const Optional<T> &value) {
  return os << ReprPrint(value);
}

/* ---- Hooks: each does it for an object in place of its fields, and gets a function for what it consists of ---- */

namespace type_attr {
inline constexpr reflection::AttrKey<TypedFunction<String(const Object *, const TypedFunction<String(AnyView)> &)>>
    kRepr{"__ffi_repr__"};
inline constexpr reflection::AttrKey<TypedFunction<int64_t(const Object *, const TypedFunction<int64_t(AnyView)> &)>>
    kHash{"__ffi_hash__"};
inline constexpr reflection::AttrKey<
    TypedFunction<bool(const Object *, const Object *, const TypedFunction<bool(AnyView, AnyView)> &)>>
    kEq{"__ffi_eq__"};
/* Below 0, 0 or above 0. Asked for equality too where there is no kEq. */
inline constexpr reflection::AttrKey<
    TypedFunction<int32_t(const Object *, const Object *, const TypedFunction<int32_t(AnyView, AnyView)> &)>>
    kCompare{"__ffi_compare__"};
} // namespace type_attr

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_DATACLASS_H_ */
