/* function.h - std::function as an argument and as a result: any callable of Python. C++ may call and destroy it on any
 * thread; an exception of Python arrives as python_error. */
#ifndef FFI_HPY_STL_FUNCTION_H_
#define FFI_HPY_STL_FUNCTION_H_

#include <ffi_hpy/bind/function.h>

#include <functional>

FFI_HPY_NAMESPACE_BEGIN

template <typename R, typename... A>
struct caster<std::function<R(A...)>> : detail::value_caster<std::function<R(A...)>> {
  bool from(const TVMFFIAny &any, bool) {
    if (any.type_index == kTVMFFINone) {
      this->value = nullptr;
      return true;
    }
    if (any.type_index != kTVMFFIFunction) return false;
    detail::owned::add_ref(any.v_obj);
    this->value = [function = detail::owned(any)](A... args) -> R {
      detail::owned values[sizeof...(A) + 1] = {
          detail::caster_for<A>::to(static_cast<A &&>(args), rv_policy::automatic_reference, nullptr)...};
      TVMFFIAny views[sizeof...(A) + 1];
      for (size_t i = 0; i < sizeof...(A); ++i) views[i] = values[i].value;
      detail::owned result;
      detail::check(detail::api->call(function.value.v_obj, views, static_cast<int32_t>(sizeof...(A)), &result.value));
      if constexpr (!std::is_void_v<R>) {
        detail::caster_for<R> read;
        if (!read.from(result.value, true)) {
          std::string text = "expected " + detail::caster_for<R>::name() + " as the result of a callable";
          throw builtin_exception("TypeError", text.c_str());
        }
        return read.template get<R>();
      }
    };
    return true;
  }
  static detail::owned to(std::function<R(A...)> value, rv_policy policy, const TVMFFIAny *) {
    if (value == nullptr) return detail::owned();
    return detail::function_of(detail::make_overload("function", false, std::move(value), policy));
  }
  static std::string name() {
    std::string made = "Callable[[";
    [[maybe_unused]] const char *comma = "";
    ((made.append(comma).append(detail::result_text<A>::name()), comma = ", "), ...);
    return made + "], " + detail::result_text<R>::name() + "]";
  }
  static std::string schema() {
    std::string made = "{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[" + detail::result_text<R>::schema();
    made += "],\"params\":[";
    [[maybe_unused]] const char *comma = "";
    ((made.append(comma).append(detail::result_text<A>::schema()), comma = ","), ...);
    return made + "]}}";
  }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_FUNCTION_H_ */
