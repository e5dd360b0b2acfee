/* structural_hash.h - StructuralHash: a hash of what a value consists of, the same for values that are StructuralEqual
 * and, but for variables that it does not define, in every process. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_HASH_H_
#define TVM_FFI_EXTRA_STRUCTURAL_HASH_H_

#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm {
namespace ffi {
namespace detail {
inline constexpr char kStructuralHashName[] = "ffi.StructuralHash";
} // namespace detail

class StructuralHash {
public:
  /* The options and errors of StructuralEqual::Equal. */
  static uint64_t Hash(const Any &value, bool map_free_vars = false, bool skip_tensor_content = false) {
    return static_cast<uint64_t>(
        detail::CoreFunction<detail::kStructuralHashName>()(value, map_free_vars, skip_tensor_content).cast<int64_t>());
  }
  uint64_t operator()(const Any &value) const { return Hash(value); }
};

namespace type_attr {
/* Hashes an object of a type in place of its fields: hook(object, hash so far, add). By add(value, hash so far, region)
 * it goes on with what the object consists of. */
inline constexpr reflection::AttrKey<
    TypedFunction<int64_t(const Object *, int64_t, const TypedFunction<int64_t(AnyView, int64_t, int)> &)>>
    kSHash{"__s_hash__"};
} // namespace type_attr

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_STRUCTURAL_HASH_H_ */
