/* function.h - std::function as an argument and as a result: any callable of Python. C++ may call and destroy it on any
 * thread; an exception of Python arrives as python_error. */
#ifndef FFI_HPY_STL_FUNCTION_H_
#define FFI_HPY_STL_FUNCTION_H_

#include <ffi_hpy/bind/function.h>
#include <ffi_hpy/bind/functions.h>
#include <ffi_hpy/bind/references.h>

#include <functional>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** ", but `result`[1] is 300, which is outside the range 0 to 255"; "" for any other reason. */
FFI_HPY_COLD inline std::string outside_range_text(const mismatch &found) {
  uint32_t size = found.type_flags >> FFI_HPY_TYPE_SIZE_SHIFT;
  int32_t kind = found.value.is_valid() ? found.value.any().type_index : kTVMFFINone;
  bool is_int = kind == kTVMFFIInt || kind == kTVMFFIBigInt;
  std::string start = ", but `result`" + found.place + " is ";
  if (size > 4 && (is_int || kind == kTVMFFIFloat)) {
    return start + repr(found.value).c_str() + ", which is outside the range of a " + (size == 5 ? "float" : "double");
  }
  if (size == 0 || size > 4 || !is_int) return "";
  bool is_signed = (found.type_flags & kFfiHpyTypeUnsigned) == 0;
  uint64_t most = UINT64_MAX >> (64 - (4u << size) + (is_signed ? 1u : 0u));
  std::string least = is_signed ? "-" + std::to_string(most + 1) : "0";
  return start + repr(found.value).c_str() + ", which is outside the range " + least + " to " + std::to_string(most);
}

/** A callable of Python in a std::function. */
template <typename R, typename... A> struct python_callable {
  object function;

  R operator()(A... args) const {
    cleanup_list cleanup;
    object values[sizeof...(A) + 1] = {
        checked(make_caster<A>::from_cpp(static_cast<A &&>(args), rv_policy::automatic_reference, &cleanup))...};
    TVMFFIAny views[sizeof...(A) + 2] = {none_value()};
    for (size_t i = 0; i < sizeof...(A); ++i) views[i + 1] = values[i].any();
    object kept = call(views);
    if constexpr (is_text_view_v<R>) {
      std::decay_t<R> text;
      if (!read_view(kept, &text)) refuse(kept);
      return last_text(text);
    } else if constexpr (!std::is_void_v<R>) {
      (void)check_cast<R>();
      make_caster<R> read;
      if (!load<R>(&read, kept, true, &cleanup)) refuse(kept);
      return static_cast<R>(read.operator cast_t<R>());
    }
  }

private:
  /* A result that C++ gets as the Python object itself comes from the package: a native function converts it. */
  object call(TVMFFIAny *views) const {
    if constexpr (takes_python_result_v<R>) {
      views[sizeof...(A) + 1] = function.any();
      return ask_python_with(kFfiHpyRunCallFunction, views, sizeof...(A) + 2);
    } else {
      TVMFFIAny result = none_value();
      check(api->call(function.any().v_obj, views + 1, static_cast<int32_t>(sizeof...(A)), &result));
      return take(result);
    }
  }
  [[noreturn]] FFI_HPY_COLD static void refuse([[maybe_unused]] const object &given) {
    std::string text = "expected " + type_text(make_caster<R>::Name.text, make_caster<R>::Name.types(), false) +
                       " as the result of a callable";
    if constexpr (!is_text_view_v<R>) {
      mismatch found;
      if (explain_inner<R>(given, cast_flags::convert, &found)) text += outside_range_text(found);
    }
    throw builtin_exception("TypeError", text.c_str());
  }
};

template <typename R, typename... A> struct references_in<std::function<R(A...)>> {
  static constexpr bool any = true;
  static void visit(const std::function<R(A...)> &value, const reference_visitor &visit) {
    if (visit.is_cutting()) return; /* a callable is never part of a cycle of native objects */
    if (auto *known = value.template target<python_callable<R, A...>>()) visit(known->function);
  }
};

template <typename R, typename... A> struct may_be_empty<std::function<R(A...)>> : std::true_type {};

template <typename R, typename... A> struct type_caster<std::function<R(A...)>> {
  FFI_HPY_TYPE_CASTER(std::function<R(A...)>, const_name("collections.abc.Callable[[") +
                                                  opposite_name(concat(make_caster<A>::Name...)) + const_name("], ") +
                                                  result_caster<R>::Name + const_name("]"));
  static constexpr bool takes_python = false;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (source.is_none()) {
      value = nullptr;
      return (flags & cast_flags::accepts_none) != 0;
    }
    try {
      object function = borrow(source);
      if (source.any().type_index == kTVMFFIOpaquePyObject) function = ask_python("to_function", source);
      if (function.any().type_index != kTVMFFIFunction) return false;
      value = python_callable<R, A...>{std::move(function)};
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  template <typename F, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<F>>, int> = 0>
  static handle from_cpp(F &&source, rv_policy policy, cleanup_list *) noexcept {
    if (source == nullptr) return handle(none_value());
    return guarded([&] {
      auto *known = source.template target<python_callable<R, A...>>();
      return known != nullptr ? ask_python("from_function", known->function)
                              : object(cpp_function(std::forward<F>(source), policy));
    });
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_FUNCTION_H_ */
