/* shared_ptr.h - std::shared_ptr as an argument and as a result. As an argument it keeps the object of Python alive; an
 * object that Python got from a shared_ptr shares it. */
#ifndef FFI_HPY_STL_SHARED_PTR_H_
#define FFI_HPY_STL_SHARED_PTR_H_

#include <ffi_hpy/bind/instance.h>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename T> struct may_be_empty<std::shared_ptr<T>> : std::true_type {};

template <typename T> struct type_caster<std::shared_ptr<T>> : native_caster {
  FFI_HPY_TYPE_CASTER(std::shared_ptr<T>, make_caster<T>::Name);
  using Plain = std::remove_cv_t<T>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> inner;
    flags &= ~uint32_t{cast_flags::convert}; /* a converted object would end with the call */
    if (!inner.from_python(source, flags, cleanup)) return false;
    if (source.is_none()) {
      value = nullptr;
      return true;
    }
    try {
      if constexpr (has_shared_from_this_v<T>) {
        T *known = inner.operator Plain *();
        if (auto owner = known->weak_from_this().lock()) {
          value = std::shared_ptr<T>(std::move(owner), known);
          return true;
        }
      }
      auto *object = reinterpret_cast<ffi_hpy_instance *>(source.any().v_obj);
      const shared_pointer<std::shared_ptr<Plain>> *shared = nullptr;
      if (object->release == &delete_holder) {
        auto *holder = static_cast<const shared_holder *>(object->holder);
        shared = dynamic_cast<const shared_pointer<std::shared_ptr<Plain>> *>(holder);
      }
      if (shared != nullptr) {
        value = shared->pointer;
      } else {
        value = std::shared_ptr<T>(inner.operator Plain *(), object_owner{borrow(source)});
      }
      return true;
    } catch (...) { /* no memory */
      return false;
    }
  }
  static handle from_cpp(std::shared_ptr<T> source, rv_policy, cleanup_list *) noexcept {
    if (source == nullptr) return handle(none_value());
    return guarded([&] { return shared_instance(std::const_pointer_cast<Plain>(std::move(source))); });
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_SHARED_PTR_H_ */
