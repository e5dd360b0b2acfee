/* structural_equal.h - StructuralEqual: whether two values consist of the same.
 *
 * By contents, up to the names of what they define: a variable equals the one that is defined at the same place of the
 * other value, and then only that one. The kind of a class says how its objects are compared, _type_s_eq_hash_kind;
 * TypeError for a class without one. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_
#define TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_

#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/access_path.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm {
namespace ffi {
namespace detail {
inline constexpr char kStructuralEqualName[] = "ffi.StructuralEqual";
inline constexpr char kFirstMismatchName[] = "ffi.GetFirstStructuralMismatch";
} // namespace detail

class StructuralEqual {
public:
  /* map_free_vars: variables that neither value defines count as defined where they are met first.
   * skip_tensor_content: shape and data type of tensors are all that counts. */
  static bool Equal(const Any &lhs, const Any &rhs, bool map_free_vars = false, bool skip_tensor_content = false) {
    return detail::CoreFunction<detail::kStructuralEqualName>()(lhs, rhs, map_free_vars, skip_tensor_content)
        .cast<bool>();
  }
  /* Where the values differ first, a path in each; nullopt if they are equal. */
  static Optional<reflection::AccessPathPair>
  GetFirstMismatch(const Any &lhs, const Any &rhs, bool map_free_vars = false, bool skip_tensor_content = false) {
    return detail::CoreFunction<detail::kFirstMismatchName>()(lhs, rhs, map_free_vars, skip_tensor_content)
        .cast<Optional<reflection::AccessPathPair>>();
  }
  bool operator()(const Any &lhs, const Any &rhs) const { return Equal(lhs, rhs); }
};

namespace type_attr {
/* Compares two objects of a type in place of their fields: hook(lhs, rhs, equal). By equal(left, right, region, name)
 * it compares what they consist of: in that TVMFFIDefRegionKind, with that name in the path of a mismatch. */
inline constexpr reflection::AttrKey<
    TypedFunction<bool(const Object *, const Object *, const TypedFunction<bool(AnyView, AnyView, int, AnyView)> &)>>
    kSEqual{"__s_equal__"};
} // namespace type_attr

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_ */
