/* unique_ptr.h - std::unique_ptr as a result: the object of Python owns the value. */
#ifndef FFI_HPY_STL_UNIQUE_PTR_H_
#define FFI_HPY_STL_UNIQUE_PTR_H_

#include <ffi_hpy/bind/instance.h>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename T> struct type_caster<std::unique_ptr<T>> : native_caster {
  static constexpr auto Name = make_caster<T>::Name;

  static handle from_cpp(std::unique_ptr<T> source, rv_policy, cleanup_list *cleanup) noexcept {
    handle made = make_caster<T>::from_cpp(source.get(), rv_policy::take_ownership, cleanup);
    if (made.is_valid()) (void)source.release();
    return made;
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_UNIQUE_PTR_H_ */
