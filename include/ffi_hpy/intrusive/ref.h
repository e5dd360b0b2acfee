/* ref.h - ref<T>: a pointer that owns a reference to an object with a count of its own (counter.h). With bind.h it is a
 * parameter and a result. */
#ifndef FFI_HPY_INTRUSIVE_REF_H_
#define FFI_HPY_INTRUSIVE_REF_H_

#include <ffi_hpy/bind/instance.h>
#include <ffi_hpy/intrusive/counter.h>

FFI_HPY_NAMESPACE_BEGIN

/** Owns a reference to a T. */
template <typename T> class ref {
public:
  ref() = default;
  ref(std::nullptr_t) {}
  ref(T *pointer) : pointer_(pointer) { inc_ref(pointer_); }
  ref(const ref &other) : ref(other.pointer_) {}
  ref(ref &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U, std::enable_if_t<std::is_convertible_v<U *, T *>, int> = 0>
  ref(const ref<U> &other) : ref(static_cast<T *>(other.get())) {}
  ~ref() { dec_ref(pointer_); }
  ref &operator=(const ref &other) {
    ref(other).swap(*this);
    return *this;
  }
  ref &operator=(ref &&other) noexcept {
    ref(std::move(other)).swap(*this);
    return *this;
  }
  void swap(ref &other) noexcept { std::swap(pointer_, other.pointer_); }
  void reset() { ref().swap(*this); }

  T *get() const { return pointer_; }
  T *operator->() const { return pointer_; }
  T &operator*() const { return *pointer_; }
  operator T *() const { return pointer_; }

private:
  T *pointer_ = nullptr;
};

namespace detail {

template <typename T> struct type_caster<ref<T>> : native_caster {
  FFI_HPY_TYPE_CASTER(ref<T>, make_caster<T>::Name);
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> inner;
    if (!inner.from_python(source, flags, cleanup)) return false;
    value = ref<T>(inner.operator T *());
    return true;
  }
  static handle from_cpp(const ref<T> &source, rv_policy, cleanup_list *cleanup) noexcept {
    return make_caster<T>::from_cpp(source.get(), rv_policy::take_ownership, cleanup);
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_INTRUSIVE_REF_H_ */
