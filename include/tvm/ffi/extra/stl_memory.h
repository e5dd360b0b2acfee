/* stl_memory.h - std::shared_ptr and unique_ptr of classes below Object, and std::monostate. extra/stl.h includes it.
 *
 * The object keeps its count of references, and the pointer of the standard library owns one of them, or the count owns
 * the pointer: an object that std::make_shared made is released by its last shared_ptr, after the last reference. A
 * unique_ptr is for results: nothing can take an object away from the references that Python holds. */
#ifndef TVM_FFI_EXTRA_STL_MEMORY_H_
#define TVM_FFI_EXTRA_STL_MEMORY_H_

#include <tvm/ffi/memory.h>
#include <tvm/ffi/object.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>

namespace tvm::ffi {
namespace detail {

/** Writes the header of an object that make_object did not make. */
inline void InitHeader(TVMFFIObject *header, int32_t type_index, void (*deleter)(void *, int)) {
  header->combined_ref_count = kCombinedRefCountBothOne;
  header->type_index = type_index;
  header->__padding = 0;
  header->deleter = deleter;
}

/** The shared_ptrs that objects own, by the address of the header. Never destroyed, because objects may outlive all
 * variables. */
class SharedOwners {
public:
  static SharedOwners &Global() {
    static SharedOwners &owners = *new SharedOwners;
    return owners;
  }
  /** A new reference to the object of a shared_ptr that is not null. */
  TVMFFIObject *Reference(TVMFFIObject *header, std::shared_ptr<void> owner, int32_t type_index) {
    for (;; std::this_thread::yield()) { /* while another thread releases the last reference */
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = owners_.find(header);
      if (found == owners_.end()) {
        InitHeader(header, type_index, Release);
        header->__padding = FFI_HPY_OWNED_BY_SHARED;
        /* The weak reference shows that the object has another owner, so a wrapper of it is found again. */
        CountAddRelaxed(&header->combined_ref_count, kCombinedRefCountWeakOne);
        owners_.emplace(header, std::move(owner));
        return header;
      }
      if (AddStrong(&header->combined_ref_count)) return header;
    }
  }
  static void Release(void *header, int flags) {
    if (flags == FFI_HPY_DELETER_COUNTS_OWNERS) return Global().CountOwners(static_cast<TVMFFIObject *>(header));
    if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) == 0) return DropWeak(static_cast<TVMFFIObject *>(header));
    SharedOwners &owners = Global();
    std::shared_ptr<void> last; /* destroyed without the lock */
    std::lock_guard<std::mutex> lock(owners.mutex_);
    auto found = owners.owners_.find(static_cast<TVMFFIObject *>(header));
    last = std::move(found->second);
    owners.owners_.erase(found);
  }

private:
  /** For the garbage collector, while the object has a reference. */
  void CountOwners(TVMFFIObject *header) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = owners_.find(header);
    bool is_alone = found != owners_.end() && found->second.use_count() == 1;
    header->__padding = is_alone ? FFI_HPY_OWNED_BY_SHARED : FFI_HPY_OWNED_BY_SEVERAL;
  }
  /** Adds a strong reference if the object still has one. Returns whether it did. */
  static bool AddStrong(uint64_t *counts) {
    uint64_t count = CountLoadAcquire(counts);
    while ((count & kCombinedRefCountMaskUInt32) != 0) {
      if (CountReplace(counts, &count, count + kCombinedRefCountStrongOne)) return true;
    }
    return false;
  }

  std::mutex mutex_;
  std::unordered_map<TVMFFIObject *, std::shared_ptr<void>> owners_;
};

template <typename T> void DeleteUnique(void *handle, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) {
    delete ObjectUnsafe::RawObjectPtrFromUnowned<T>(static_cast<TVMFFIObject *>(handle));
  }
}

/** The deleter of a shared_ptr to an object that has another owner. The deleter has the references that all copies of
 * the shared_ptr own together. The garbage collector reads a field by a copy of its value, and compares the count of
 * references with the number of fields that it has found. So the deleter has as many references as there are copies: a
 * copy that the collector does not see then keeps the object. */
class SharedReferences {
public:
  explicit SharedReferences(TVMFFIObject *header) : header_(header), n_(kFirst) {
    for (uint32_t i = 0; i < kFirst; ++i) ObjectUnsafe::IncRefObjectHandle(header);
  }
  SharedReferences(SharedReferences &&other) noexcept : header_(other.header_), n_(other.n_.exchange(0)) {}
  ~SharedReferences() { Release(n_.exchange(0)); }
  void operator()(const void *) { Release(n_.exchange(0)); }

  /** Counts the copies of a shared_ptr, of which one is about to end. */
  template <typename T> static void Follow(const std::shared_ptr<T> &pointer) {
    auto *self = std::get_deleter<SharedReferences>(pointer);
    if (self == nullptr || !kHasTypes) return;
    uint32_t n = static_cast<uint32_t>((std::max)(pointer.use_count() - 1, 1L)), before = self->n_.load();
    for (uint32_t i = before; i < n; ++i) ObjectUnsafe::IncRefObjectHandle(self->header_);
    if (self->n_.compare_exchange_strong(before, n)) {
      if (before > n) self->Release(before - n);
    } else if (n > before) { /* another thread counts them */
      self->Release(n - before);
    }
  }

private:
#if defined(__cpp_rtti) || defined(__GXX_RTTI) || defined(_CPPRTTI)
  static constexpr bool kHasTypes = true;
#else
  static constexpr bool kHasTypes = false;
#endif
  /* Without RTTI a shared_ptr does not tell its deleter. A second reference then stands for copies of it. */
  static constexpr uint32_t kFirst = kHasTypes ? 1 : 2;

  void Release(uint32_t n) {
    while (n-- != 0) ObjectUnsafe::DecRefObjectHandle(header_);
  }
  TVMFFIObject *header_;
  std::atomic<uint32_t> n_;
};

/** The schema of a pointer that may be null. A field of 16 bytes with the schema of Optional would be one of the
 * withdrawn headers of apache-tvm-ffi, for the core. */
inline std::string PointerSchema(const char *type_key) {
  return "{\"type\":\"std::optional\",\"args\":[" + NamedTypeSchema(type_key) + "]}";
}

} // namespace detail

/** An object, or None for null. The same object arrives as the same wrapper. */
template <typename T>
struct TypeTraits<std::shared_ptr<T>, std::enable_if_t<std::is_base_of_v<Object, T>>> : TypeTraitsBase {
  using Pointer = ObjectPtr<std::remove_const_t<T>>;
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const std::shared_ptr<T> &, TVMFFIAny *) {
    static_assert(sizeof(T) == 0, "an AnyView cannot own the reference: make it an Any");
  }
  static void MoveToAny(std::shared_ptr<T> src, TVMFFIAny *result) {
    if (src == nullptr) return detail::PutNone(result);
    auto *object = const_cast<std::remove_const_t<T> *>(src.get());
    TVMFFIObject *header = detail::ObjectUnsafe::GetHeader(object);
    if (header->deleter == nullptr || header->deleter == detail::SharedOwners::Release) {
      std::shared_ptr<void> owner(src, object);
      header = detail::SharedOwners::Global().Reference(header, std::move(owner), T::RuntimeTypeIndex());
    } else {
      detail::ObjectUnsafe::IncRefObjectHandle(header);
      detail::SharedReferences::Follow(src);
    }
    detail::ObjectUnsafe::PutObject(header, result);
  }
  static std::optional<std::shared_ptr<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Pointer> pointer = TypeTraits<Pointer>::TryCastFromAnyView(src);
    if (!pointer.has_value()) return std::nullopt;
    T *object = pointer->get();
    if (object == nullptr) return std::shared_ptr<T>();
    return std::shared_ptr<T>(object, detail::SharedReferences(detail::ObjectUnsafe::GetHeader(object)));
  }
  static std::string TypeStr() { return std::string(T::_type_key) + " | None"; }
  static std::string TypeSchema() { return detail::PointerSchema(T::_type_key); }
};

/** A new object that `new` made, as a result; None for null. */
template <typename T>
struct TypeTraits<std::unique_ptr<T>, std::enable_if_t<std::is_base_of_v<Object, T>>> : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const std::unique_ptr<T> &, TVMFFIAny *) {
    static_assert(sizeof(T) == 0, "an AnyView cannot own the object: make it an Any");
  }
  static void MoveToAny(std::unique_ptr<T> src, TVMFFIAny *result) {
    if (src == nullptr) return detail::PutNone(result);
    TVMFFIObject *header = detail::ObjectUnsafe::GetHeader(src.release());
    detail::InitHeader(header, T::RuntimeTypeIndex(), detail::DeleteUnique<T>);
    detail::ObjectUnsafe::PutObject(header, result);
  }
  static std::optional<std::unique_ptr<T>> TryCastFromAnyView(const TVMFFIAny *) {
    static_assert(sizeof(T) == 0, "a unique_ptr cannot take an object away from Python: take a std::shared_ptr, or a "
                                  "const T *");
    return std::nullopt;
  }
  static std::string TypeStr() { return std::string(T::_type_key) + " | None"; }
  static std::string TypeSchema() { return detail::PointerSchema(T::_type_key); }
};

/** None. */
template <>
struct TypeTraits<std::monostate> : detail::PlainTraitsBase<TypeTraits<std::monostate>, std::monostate, kTVMFFINone> {
  static void Put(std::monostate, TVMFFIAny *result) { detail::PutNone(result); }
  static std::monostate Get(const TVMFFIAny *) { return {}; }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFINone)
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STL_MEMORY_H_ */
