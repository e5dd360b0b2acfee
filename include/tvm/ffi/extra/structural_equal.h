/* structural_equal.h - StructuralEqual: whether two values have equal contents.
 *
 * Names of variables that a value defines do not count: a variable equals only the variable that is defined at the same
 * place of the other value. The _type_s_eq_hash_kind of a class says how its objects are compared; TypeError for a
 * class without one. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_
#define TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_

#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/access_path.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm::ffi {
namespace detail {
inline constexpr char kStructuralEqualName[] = "ffi.StructuralEqual";
inline constexpr char kFirstMismatchName[] = "ffi.GetFirstStructuralMismatch";
} // namespace detail

/** Compares values by their contents. */
class StructuralEqual {
public:
  /** map_free_vars: a variable that neither value defines counts as defined where it first occurs. skip_tensor_content:
   * tensors are equal if their shapes and data types are. */
  static bool Equal(const Any &lhs, const Any &rhs, bool map_free_vars = false, bool skip_tensor_content = false) {
    return detail::CoreFunction<detail::kStructuralEqualName>()(lhs, rhs, map_free_vars, skip_tensor_content)
        .cast<bool>();
  }
  /** The first place where the values differ, as a path in each; nullopt if they are equal. */
  static Optional<reflection::AccessPathPair>
  GetFirstMismatch(const Any &lhs, const Any &rhs, bool map_free_vars = false, bool skip_tensor_content = false) {
    return detail::CoreFunction<detail::kFirstMismatchName>()(lhs, rhs, map_free_vars, skip_tensor_content)
        .cast<Optional<reflection::AccessPathPair>>();
  }
  /** Whether two values are equal by their contents. */
  bool operator()(const Any &lhs, const Any &rhs) const { return Equal(lhs, rhs); }
};

namespace type_attr {
/** A hook that compares two objects of a type, instead of comparing their fields: hook(lhs, rhs, equal). The hook calls
 * equal(left, right, region, name) for each pair of parts: `region` is the TVMFFIDefRegionKind of the parts, `name`
 * their name in the path of a mismatch. */
inline constexpr reflection::AttrKey<
    TypedFunction<bool(const Object *, const Object *, const TypedFunction<bool(AnyView, AnyView, int, AnyView)> &)>>
    kSEqual{"__s_equal__"};
} // namespace type_attr

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_EQUAL_H_ */
