/* runtime.h - the core as a bound library sees it: the table of its functions, and raw values. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_RUNTIME_H_
#define FFI_HPY_BIND_RUNTIME_H_

#include <ffi_hpy/c_bind.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

/** The namespace of bind.h. A header that offers it under another name defines this first. */
#ifndef FFI_HPY_BIND_NAMESPACE
#define FFI_HPY_BIND_NAMESPACE ffi_hpy
#endif

/** The name of the namespace as a text, with which warnings begin. */
#define FFI_HPY_BIND_TEXT FFI_HPY_TEXT_OF(FFI_HPY_BIND_NAMESPACE)
#define FFI_HPY_TEXT_OF(name) FFI_HPY_TEXT_OF_NAME(name)
#define FFI_HPY_TEXT_OF_NAME(name) #name

#if defined(__GNUC__) || defined(__clang__)
/** Everything of bind.h belongs to one library: two libraries may be compiled with different versions of it. */
#define FFI_HPY_NAMESPACE_BEGIN namespace FFI_HPY_BIND_NAMESPACE __attribute__((visibility("hidden"))) {
#define FFI_HPY_NOINLINE __attribute__((noinline))
#define FFI_HPY_COLD __attribute__((noinline, cold))
#else
#define FFI_HPY_NAMESPACE_BEGIN namespace FFI_HPY_BIND_NAMESPACE {
#define FFI_HPY_NOINLINE __declspec(noinline)
#define FFI_HPY_COLD __declspec(noinline)
#endif
#define FFI_HPY_NAMESPACE_END }

#if defined(FFI_HPY_BIND_PY_OBJECT)
struct ffi_hpy_py_object;
#endif

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The functions of the core; set when the library is imported. */
inline const ffi_hpy_bind_api *api = nullptr;
/** The Function by which the package answers questions about Python; set when the library is imported. */
inline TVMFFIObjectHandle package = nullptr;

inline TVMFFIByteArray bytes_of(std::string_view text) { return TVMFFIByteArray{text.data(), text.size()}; }

/** Makes values of Python for the caller of a function; NULL: the caller takes native values. */
using python_values = const ffi_hpy_python_values *;
/** The values that the caller of a function takes; `result`: as the function gets it. */
inline python_values values_for(const TVMFFIAny &result) {
  python_values known = *api->python;
  return result.type_index == kTVMFFINone && result.v_ptr == known ? known : nullptr;
}

/** An operation on Python objects: its number in FFI_HPY_OPERATIONS, or, for a rarer one, only its name in the
 * package. */
struct operation {
  uint32_t number;
  const char *name;
  constexpr operation(const char *of) : number(kFfiHpyNumOperations), name(of) {}
  constexpr operation(uint32_t of) : number(of), name(nullptr) {}
  /** The name. */
  const char *text() const {
#define FFI_HPY_OPERATION(constant, name) name,
    static constexpr const char *names[] = {FFI_HPY_OPERATIONS(FFI_HPY_OPERATION)};
#undef FFI_HPY_OPERATION
    return name != nullptr ? name : names[number];
  }
};

/** The type index of a handle that refers to nothing. */
enum : int32_t { kNull = INT32_MIN };

constexpr TVMFFIAny word(int32_t type_index, int64_t payload) {
  TVMFFIAny value{};
  value.type_index = type_index;
  value.v_int64 = payload;
  return value;
}
constexpr TVMFFIAny none_value() { return word(kTVMFFINone, 0); }
constexpr bool is_object(const TVMFFIAny &value) { return value.type_index >= kTVMFFIStaticObjectBegin; }

/** A view of an object; None for a null pointer. */
inline TVMFFIAny view_of(TVMFFIObjectHandle object) {
  TVMFFIAny value = none_value();
  if (object == nullptr) return value;
  value.type_index = TVMFFIObjectGetTypeIndex(object);
  value.v_obj = static_cast<TVMFFIObject *>(object);
  return value;
}

/** The items of an Array, or of another sequence of the core. */
inline TVMFFISeqCell *cell_of(TVMFFIObject *sequence) { return reinterpret_cast<TVMFFISeqCell *>(sequence + 1); }

/** The object of Python that counts the references of a C++ object (ffi_hpy/intrusive/counter.h). */
#if defined(FFI_HPY_BIND_PY_OBJECT)
using counting_object = ::ffi_hpy_py_object;
#else
using counting_object = TVMFFIObject;
#endif

inline void add_ref(TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
  __atomic_fetch_add(&object->combined_ref_count, uint64_t{1}, __ATOMIC_RELAXED);
#else
  _InterlockedIncrement64(reinterpret_cast<volatile long long *>(&object->combined_ref_count));
#endif
}

/** Weak references are counted in the upper half of the word. All strong references together own one. */
constexpr uint64_t kOneWeak = uint64_t{1} << 32;
inline void add_weak_ref(TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
  __atomic_fetch_add(&object->combined_ref_count, kOneWeak, __ATOMIC_RELAXED);
#else
  _InterlockedExchangeAdd64(reinterpret_cast<volatile long long *>(&object->combined_ref_count),
                            static_cast<long long>(kOneWeak));
#endif
}
/** Whether this was the last reference of any kind: the caller frees the memory by the deleter. */
inline bool drop_weak_ref(TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
  return __atomic_fetch_sub(&object->combined_ref_count, kOneWeak, __ATOMIC_ACQ_REL) == kOneWeak;
#else
  return _InterlockedExchangeAdd64(reinterpret_cast<volatile long long *>(&object->combined_ref_count),
                                   -static_cast<long long>(kOneWeak)) == static_cast<long long>(kOneWeak);
#endif
}
/** Adds a reference to an object that another weak reference keeps in memory. False if the object has ended. */
inline bool add_ref_if_alive(TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
  uint64_t count = __atomic_load_n(&object->combined_ref_count, __ATOMIC_RELAXED);
  while (static_cast<uint32_t>(count) != 0) {
    if (__atomic_compare_exchange_n(&object->combined_ref_count, &count, count + 1, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
#else
  auto *word = reinterpret_cast<volatile long long *>(&object->combined_ref_count);
  long long count = *word;
  while (static_cast<uint32_t>(count) != 0) {
    long long found = _InterlockedCompareExchange64(word, count + 1, count);
    if (found == count) return true;
    count = found;
  }
  return false;
#endif
}

/** The number of references to an object. */
inline uint32_t ref_count(const TVMFFIObject *object) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<uint32_t>(__atomic_load_n(&object->combined_ref_count, __ATOMIC_RELAXED));
#else
  return static_cast<uint32_t>(*reinterpret_cast<const volatile uint64_t *>(&object->combined_ref_count));
#endif
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_RUNTIME_H_ */
