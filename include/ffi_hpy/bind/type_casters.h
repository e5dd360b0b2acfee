/* type_casters.h - the casters of Python's classes in C++. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_TYPE_CASTERS_H_
#define FFI_HPY_BIND_TYPE_CASTERS_H_

#include <ffi_hpy/bind/functions.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename T> inline constexpr bool is_typed_v = false;
template <typename T, typename... Ts> inline constexpr bool is_typed_v<typed<T, Ts...>> = true;

/** The name of T::Name, and "object" for other classes, such as class_. */
template <typename T, typename = int> struct python_name {
  static constexpr auto Name = const_name("object");
};
template <typename T> struct python_name<T, decltype((void)T::Name, 0)> {
  static constexpr auto Name = T::Name;
};

/** The classes of Python, and handle. */
template <typename T> struct type_caster<T, enable_if_t<std::is_base_of_v<handle, T> && !is_typed_v<T>>> {
  FFI_HPY_TYPE_CASTER(T, python_name<T>::Name);

  type_caster() : value(initial()) {}
  bool from_python(handle source, [[maybe_unused]] uint32_t flags, cleanup_list *) noexcept {
    if constexpr (std::is_same_v<T, fallback>) {
      if ((flags & cast_flags::convert) == 0) return false;
    }
    if (!is_instance(source)) return false;
    if constexpr (std::is_base_of_v<object, T>) {
      value = borrow<T>(source);
    } else if constexpr (std::is_same_v<T, handle>) {
      value = source;
    } else {
      value = T(source);
    }
    return true;
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept {
    if (is_foreign_text(source.any())) {
      return guarded([&] { return own_text(source.any()); });
    }
    source.inc_ref();
    return source;
  }
  static handle from_cpp(object &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    const handle &view = source;
    return is_foreign_text(view.any()) ? from_cpp(view, policy, cleanup) : source.release();
  }

private:
  static T initial() {
    if constexpr (std::is_base_of_v<object, T>) {
      return T(handle(), steal_t{});
    } else {
      return T();
    }
  }
  static bool is_instance(handle source) noexcept {
    if constexpr (std::is_same_v<T, handle> || std::is_same_v<T, object> || std::is_same_v<T, any>) {
      return source.is_valid();
    } else if constexpr (std::is_same_v<T, fallback>) {
      return source.is_valid();
    } else {
      try {
        return T::check_(source);
      } catch (...) {
        return false;
      }
    }
  }
};

/** `*args` and `**kwargs`, which the core passes as an Array: of values, or of names and values in turn. */
template <typename T> struct rest_caster {
  FFI_HPY_TYPE_CASTER(T, T::Name);
  rest_caster() : value(handle(), steal_t{}) {}
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    if (source.any().type_index != kTVMFFIArray) return false;
    handle made = guarded([&] {
      const TVMFFIAny *items = items_in(source);
      item_list<TVMFFIAny> all;
      all.add(none_value());
      for (int64_t i = 0; i < cell_of(source.any().v_obj)->size; ++i) all.add(items[i]);
      return ask_python_with(std::is_same_v<T, args> ? kFfiHpyRunTuple : kFfiHpyRunDict, all.data(), all.size());
    });
    if (!made.is_valid()) python_error dropped;
    value = steal<T>(made);
    return made.is_valid();
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept { return source.inc_ref(); }
};
template <> struct type_caster<args> : rest_caster<args> {};
template <> struct type_caster<kwargs> : rest_caster<kwargs> {};

template <> struct type_caster<accessor> {
  static constexpr auto Name = const_name("object");
  static handle from_cpp(const accessor &source, rv_policy, cleanup_list *) noexcept {
    return guarded([&] { return object(source); });
  }
};

template <typename T, typename... Ts> struct typed_text {
  static constexpr auto Name =
      make_caster<T>::Name + const_name("[") +
      concat(const_name<std::is_same_v<Ts, ellipsis>>(const_name("..."), make_caster<Ts>::Name)...) + const_name("]");
};
template <typename T> struct typed_text<object, T> {
  static constexpr auto Name = make_caster<T>::Name;
};
template <typename T> struct typed_text<handle, T> {
  static constexpr auto Name = make_caster<T>::Name;
};
template <typename R> using result_caster = make_caster<std::conditional_t<std::is_void_v<R>, void_type, R>>;

/** The result of `__next__`: an item, which `get` returns, or the end, which costs no C++ exception. `lock` is held
 * until the item is converted. */
template <typename Lock, typename Get> struct next_item {
  Lock lock;
  bool is_end;
  Get get;
};
template <typename Lock, typename Get> next_item(Lock, bool, Get) -> next_item<Lock, Get>;
struct no_lock {};
template <typename Lock, typename Get> struct type_caster<next_item<Lock, Get>> {
  using Item = decltype(std::declval<Get &>()());
  static constexpr auto Name = result_caster<Item>::Name;
  static handle from_cpp(next_item<Lock, Get> &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    if (!source.is_end) {
      return guarded([&] { return steal(make_caster<Item>::from_cpp(source.get(), policy, cleanup)); });
    }
    api->raise("StopIteration", "");
    return handle();
  }
};

template <typename R, typename... Args> struct typed_text<callable, R(Args...)> {
  static constexpr auto Name = const_name("collections.abc.Callable[[") + concat(make_caster<Args>::Name...) +
                               const_name("], ") + result_caster<R>::Name + const_name("]");
};
template <typename R> struct typed_text<callable, R(...)> {
  static constexpr auto Name = const_name("collections.abc.Callable[..., ") + result_caster<R>::Name + const_name("]");
};
template <typename T, typename... Ts> struct type_caster<typed<T, Ts...>> {
  using Typed = typed<T, Ts...>;
  using Value = Typed;
  static constexpr auto Name = typed_text<T, Ts...>::Name;
  template <typename T_> using Cast = movable_cast_t<T_>;
  template <typename T_> static constexpr bool can_cast() { return true; }
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    value = std::move(caster.value);
    return true;
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept { return source.inc_ref(); }
  explicit operator Typed &() { return value; }
  explicit operator Typed *() { return &value; }
  explicit operator Typed &&() { return std::move(value); }
  Typed value{make_caster<T>().value};
};

template <typename T> struct type_caster<pointer_and_handle<T>> {
  using Both = pointer_and_handle<T>;
  FFI_HPY_TYPE_CASTER(Both, make_caster<T>::Name);
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> inner;
    if (!inner.from_python(source, flags, cleanup) || !inner.template can_cast<T *>()) return false;
    value = {inner.operator T *(), source};
    return true;
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPE_CASTERS_H_ */
