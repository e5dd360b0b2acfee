/* memory.h - creates objects: make_object, make_arc, make_inplace_array_object.
 *
 * The library that made an object frees it, because the object's deleter is a function of that library. An exception of
 * the constructor is passed on without a leak; std::bad_alloc if memory runs out. */
#ifndef TVM_FFI_MEMORY_H_
#define TVM_FFI_MEMORY_H_

#include <tvm/ffi/object.h>

#include <cstdlib>
#include <new>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace tvm::ffi {

/** Destroys the object inside the memory (strong), frees the memory (weak), or both, according to the flags. */
using FObjectDeleter = void (*)(void *obj, int flags);

namespace detail {

[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowBadAlloc() { throw std::bad_alloc(); }

/** Allocates `size` bytes at a multiple of `align`, a power of two; throws std::bad_alloc. AlignedFree frees them. */
TVM_FFI_INLINE void *AlignedAlloc(size_t size, size_t align) {
#if defined(_WIN32)
  void *data = _aligned_malloc(size, align);
#else
  void *data = nullptr;
  if (align <= alignof(std::max_align_t)) {
    data = std::malloc(size);
  } else if (posix_memalign(&data, align, size) != 0) {
    data = nullptr;
  }
#endif
  if (TVM_FFI_PREDICT_FALSE(data == nullptr)) ThrowBadAlloc();
  return data;
}
TVM_FFI_INLINE void AlignedFree(void *data) noexcept {
#if defined(_WIN32)
  _aligned_free(data);
#else
  std::free(data);
#endif
}

/** Owns memory until the constructor of its object has returned; then the object owns it. */
class Space {
public:
  Space(size_t size, size_t align) : data_(AlignedAlloc(size, align)) {}
  Space(const Space &) = delete;
  Space &operator=(const Space &) = delete;
  ~Space() { AlignedFree(data_); }
  void *get() const { return data_; }
  void release() { data_ = nullptr; }

private:
  void *data_;
};

template <typename T> void DeleteObject(void *handle, int flags) {
  T *object = ObjectUnsafe::RawObjectPtrFromUnowned<T>(static_cast<TVMFFIObject *>(handle));
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) object->T::~T();
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) AlignedFree(static_cast<void *>(object));
}

template <typename T, typename... Args> ObjectPtr<T> MakeInSpace(size_t size, size_t align, Args &&...args) {
  static_assert(std::is_base_of_v<Object, T>, "make_object makes classes derived from Object");
  Space space(size, align);
  T *object = ::new (space.get()) T(std::forward<Args>(args)...);
  space.release();
  TVMFFIObject *header = ObjectUnsafe::GetHeader(object);
  header->combined_ref_count = kCombinedRefCountBothOne;
  header->type_index = T::RuntimeTypeIndex();
  header->__padding = 0;
  header->deleter = DeleteObject<T>;
  return ObjectUnsafe::ObjectPtrFromOwned<T>(static_cast<Object *>(object));
}

} // namespace detail

/** A new object, constructed from args. */
template <typename T, typename... Args> inline ObjectPtr<T> make_object(Args &&...args) {
  return detail::MakeInSpace<T>(sizeof(T), alignof(T), std::forward<Args>(args)...);
}

/** make_object that returns a pointer that is never null. */
template <typename T, typename... Args> inline Arc<T> make_arc(Args &&...args) {
  return detail::ObjectUnsafe::ArcFromObjectPtr(make_object<T>(std::forward<Args>(args)...));
}

/** A new object followed directly by room for num_elems elements. The object constructs and destroys the elements. */
template <typename ArrayType, typename ElemType, typename... Args>
inline ObjectPtr<ArrayType> make_inplace_array_object(size_t num_elems, Args &&...args) {
  static_assert(alignof(ArrayType) % alignof(ElemType) == 0 && sizeof(ArrayType) % alignof(ElemType) == 0,
                "elements that need a stricter alignment do not fit behind the object");
  if (num_elems > (static_cast<size_t>(-1) - sizeof(ArrayType)) / sizeof(ElemType)) detail::ThrowBadAlloc();
  return detail::MakeInSpace<ArrayType>(sizeof(ArrayType) + num_elems * sizeof(ElemType), alignof(ArrayType),
                                        std::forward<Args>(args)...);
}

} // namespace tvm::ffi

#endif /* TVM_FFI_MEMORY_H_ */
