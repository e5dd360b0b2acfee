/* cast.h - makes owning pointers and references from plain pointers to objects. */
#ifndef TVM_FFI_CAST_H_
#define TVM_FFI_CAST_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/optional.h>

namespace tvm::ffi {

/** A reference to the object that a pointer points to. The pointer may be null if the reference may. */
template <typename RefType, typename ObjectType> inline RefType GetRef(const ObjectType *ptr) {
  static_assert(std::is_base_of_v<typename RefType::ContainerType, ObjectType>,
                "a reference is to objects of its ContainerType");
  if constexpr (!RefType::_type_is_nullable) {
    TVM_FFI_ICHECK_NOTNULL(ptr);
  }
  return detail::ObjectUnsafe::ObjectRefFromObjectPtr<RefType>(
      detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(const_cast<Object *>(static_cast<const Object *>(ptr))));
}

/** A strong pointer to the object that `ptr` points to; `ptr` may be null. */
template <typename BaseType, typename ObjectType> inline ObjectPtr<BaseType> GetObjectPtr(ObjectType *ptr) {
  static_assert(std::is_base_of_v<BaseType, ObjectType>, "an object is an instance of its base classes");
  return detail::ObjectUnsafe::ObjectPtrFromUnowned<BaseType>(const_cast<Object *>(static_cast<const Object *>(ptr)));
}

} // namespace tvm::ffi

#endif /* TVM_FFI_CAST_H_ */
