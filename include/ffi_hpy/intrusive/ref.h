/* ref.h - ref<T>: a pointer that owns a reference to an object that counts its references (counter.h). With bind.h it
 * is a parameter and a result. */
#ifndef FFI_HPY_INTRUSIVE_REF_H_
#define FFI_HPY_INTRUSIVE_REF_H_

#include <ffi_hpy/bind/references.h>
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

/** A value with a base intrusive_base, for the collector, while C++ alone counts its references. */
template <typename T> struct counted_value final : ffi_hpy_shared {
  T *value;

  explicit counted_value(T *of) : ffi_hpy_shared{&count_of, &visit_in, &retain_in, &release_in, &free_one}, value(of) {}

private:
  static T *of(const ffi_hpy_shared *self) { return static_cast<const counted_value *>(self)->value; }
  static uint32_t count_of(const ffi_hpy_shared *self) { return of(self)->n_refs(); }
  static void visit_in(const ffi_hpy_shared *self, const void *visitor) {
    static_cast<const reference_visitor *>(visitor)->visit_value(*of(self));
  }
  static void retain_in(ffi_hpy_shared *self) { inc_ref(of(self)); }
  static void release_in(ffi_hpy_shared *self) { dec_ref(of(self)); }
  static void free_one(ffi_hpy_shared *self) { delete static_cast<counted_value *>(self); }
};

template <typename T> struct references_in<ref<T>> {
  static constexpr bool any = true;
  static void visit(const ref<T> &pointer, const reference_visitor &visit) {
    using Pointer = ref<T>;
    if (pointer.get() == nullptr) return;
    if (visit.is_cutting()) {
      auto *former = new (std::nothrow) Pointer(std::move(const_cast<Pointer &>(pointer)));
      if (former != nullptr) visit.take(former, [](void *taken) { delete static_cast<Pointer *>(taken); });
    } else if constexpr (std::is_base_of_v<intrusive_base, T>) {
      if (auto *whole = pointer->self_py()) {
        return visit.visit_target(reinterpret_cast<TVMFFIObject *>(whole), &pointer);
      }
      visit.visit_shared(static_cast<const intrusive_base *>(pointer.get()), &pointer,
                         [](const void *slot) -> ffi_hpy_shared * {
                           return new (std::nothrow) counted_value<T>(static_cast<const Pointer *>(slot)->get());
                         });
    } else if (class_of<T>::find() != nullptr) {
      visit_found(pointer.get(), &pointer, visit);
    }
  }

private:
  /* A value with another count is visited if an object of Python has taken the count over. */
  static void visit_found(T *value, const void *slot, const reference_visitor &visit) {
    handle found = guarded([&] {
      void *whole;
      const ffi_hpy_class &type = dynamic_class(value, &whole);
      return counts_itself(&type) ? find_instance(type, whole) : object();
    });
    if (!is_object(found.any())) return;
    TVMFFIObject *target = found.any().v_obj;
    api->dec_ref(target); /* before it is visited: its count is compared with the number of visits */
    if (reinterpret_cast<ffi_hpy_instance *>(target)->release != nullptr) visit.visit_target(target, slot);
  }
};

template <typename T> struct may_be_empty<ref<T>> : std::true_type {};

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
