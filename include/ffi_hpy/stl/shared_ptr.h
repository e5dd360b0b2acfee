/* shared_ptr.h - std::shared_ptr as an argument and as a result. As an argument it keeps the object of Python alive; an
 * object that Python got from a shared_ptr shares it. */
#ifndef FFI_HPY_STL_SHARED_PTR_H_
#define FFI_HPY_STL_SHARED_PTR_H_

#include <ffi_hpy/bind/instance.h>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Whether a class derives from std::enable_shared_from_this. */
template <typename T, typename = void> inline constexpr bool has_shared_from_this_v = false;
template <typename T>
inline constexpr bool has_shared_from_this_v<T, std::void_t<decltype(std::declval<T &>().weak_from_this())>> = true;

template <typename T> struct type_caster<std::shared_ptr<T>> : native_caster {
  FFI_HPY_TYPE_CASTER(std::shared_ptr<T>, make_caster<T>::Name);
  using Holder = std::shared_ptr<std::remove_cv_t<T>>;

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
        T *known = inner.operator std::remove_cv_t<T> *();
        if (auto owner = known->weak_from_this().lock()) {
          value = std::shared_ptr<T>(std::move(owner), known);
          return true;
        }
      }
      auto *object = reinterpret_cast<ffi_hpy_instance *>(source.any().v_obj);
      if (object->release == &delete_holder<Holder>) {
        value = *static_cast<Holder *>(object->holder);
      } else {
        auto drop = [kept = borrow(source)](T *) mutable { kept.reset(); };
        value = std::shared_ptr<T>(inner.operator std::remove_cv_t<T> *(), std::move(drop));
      }
      return true;
    } catch (...) { /* no memory */
      return false;
    }
  }
  static handle from_cpp(std::shared_ptr<T> source, rv_policy, cleanup_list *) noexcept {
    if (source == nullptr) return handle(none_value());
    return guarded([&] {
      void *whole;
      const ffi_hpy_class &type = dynamic_class(source.get(), &whole);
      object known = find_instance(type, whole);
      if (known.is_valid()) return known;
      new_instance made(type, false);
      auto holder = std::make_unique<Holder>(std::const_pointer_cast<std::remove_cv_t<T>>(std::move(source)));
      bool is_known;
      object finished = made.finish(whole, delete_holder<Holder>, holder.get(), &is_known);
      if (!is_known) (void)holder.release();
      return finished;
    });
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_SHARED_PTR_H_ */
