/* structural_key.h - StructuralKey: a key of maps that compares a value by its contents. The hash is computed once. */
#ifndef TVM_FFI_EXTRA_STRUCTURAL_KEY_H_
#define TVM_FFI_EXTRA_STRUCTURAL_KEY_H_

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/memory.h>

#include <functional>

namespace tvm::ffi {

/** The object of a StructuralKey: a value with its hash. */
class StructuralKeyObj : public Object {
public:
  Any key; /**< compared and hashed by contents */
  int64_t hash_i64 = 0; /**< the bits of the structural hash of `key` */

  StructuralKeyObj() = default;
  /** Computes the hash of a value. */
  explicit StructuralKeyObj(Any value)
      : key(std::move(value)), hash_i64(static_cast<int64_t>(StructuralHash::Hash(key))) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.StructuralKey", StructuralKeyObj, Object);
};

/** The contents of the key must not change while it is in a map. */
class StructuralKey : public ObjectRef {
public:
  /** A key from any value. */
  explicit StructuralKey(Any key) : ObjectRef(make_object<StructuralKeyObj>(std::move(key))) {}
  bool operator==(const StructuralKey &other) const {
    if (same_as(other)) return true;
    return get()->hash_i64 == other->hash_i64 && StructuralEqual::Equal(get()->key, other->key);
  }
  bool operator!=(const StructuralKey &other) const { return !(*this == other); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(StructuralKey, ObjectRef, StructuralKeyObj);
};

} // namespace tvm::ffi

template <> struct std::hash<tvm::ffi::StructuralKey> {
  size_t operator()(const tvm::ffi::StructuralKey &key) const { return static_cast<size_t>(key->hash_i64); }
};

#endif /* TVM_FFI_EXTRA_STRUCTURAL_KEY_H_ */
