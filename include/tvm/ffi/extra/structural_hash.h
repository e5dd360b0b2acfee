/* structural_hash.h - StructuralHash: a hash of the contents of a value. The hash is equal for values that are
 * StructuralEqual, and the same in every process, except for a value with variables that the value does not define. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_HASH_H_
#define TVM_FFI_EXTRA_STRUCTURAL_HASH_H_

#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm::ffi {
namespace detail {
inline constexpr char kStructuralHashName[] = "ffi.StructuralHash";
} // namespace detail

/** The hash of values by their contents; consistent with StructuralEqual. */
class StructuralHash {
public:
  /** Options and errors are as for StructuralEqual::Equal. */
  static uint64_t Hash(const Any &value, bool map_free_vars = false, bool skip_tensor_content = false) {
    return static_cast<uint64_t>(
        detail::CoreFunction<detail::kStructuralHashName>()(value, map_free_vars, skip_tensor_content).cast<int64_t>());
  }
  /** The hash of a value. */
  uint64_t operator()(const Any &value) const { return Hash(value); }
};

namespace type_attr {
/** A hook that hashes an object of a type, instead of hashing its fields: hook(object, hash so far, add). The hook
 * calls add(value, hash so far, region) for each part of the object, and returns the hash. */
inline constexpr reflection::AttrKey<
    TypedFunction<int64_t(const Object *, int64_t, const TypedFunction<int64_t(AnyView, int64_t, int)> &)>>
    kSHash{"__s_hash__"};
} // namespace type_attr

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STRUCTURAL_HASH_H_ */
