/* variant.h - std::variant as an argument and as a result: a value of the first alternative that fits. */
#ifndef FFI_HPY_STL_VARIANT_H_
#define FFI_HPY_STL_VARIANT_H_

#include <ffi_hpy/bind/function.h>
#include <ffi_hpy/bind/references.h>

#include <optional>
#include <variant>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <> struct type_caster<std::monostate> : native_caster {
  FFI_HPY_TYPE_CASTER(std::monostate, const_name("None"));
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept { return source.is_none(); }
  static handle from_cpp(std::monostate, rv_policy, cleanup_list *) noexcept { return handle(none_value()); }
};
template <> struct has_arg_defaults<std::monostate> : std::true_type {};

/** The alternatives as types of a parameter: None comes last. */
template <typename... T> constexpr auto alternatives_name() {
  if constexpr ((std::is_same_v<std::monostate, T> || ...)) {
    return optional_name(
        union_name(const_name<std::is_same_v<std::monostate, T>>(descr<0>(std::in_place), make_caster<T>::Name)...));
  } else {
    return union_name(make_caster<T>::Name...);
  }
}

template <typename... T> struct references_in<std::variant<T...>> {
  static constexpr bool any = (has_references_v<T> || ...);
  static void visit(const std::variant<T...> &value, const reference_visitor &visit) {
    std::visit(
        [&](const auto &each) {
          if constexpr (has_references_v<std::decay_t<decltype(each)>>) visit(each);
        },
        value);
  }
};

template <typename... T> struct type_caster<std::variant<T...>> {
  using Value = std::variant<T...>;
  /** Whether the first alternative has a default constructor, which the caster then calls at once, as nanobind's does:
   * the value needs no further memory. */
  static constexpr bool begins_with_value = std::is_default_constructible_v<Value>;
  static constexpr bool takes_python = (takes_python_v<T> || ...);
  static constexpr auto Name = io_name(alternatives_name<T...>(), union_name(make_caster<T>::Name...));
  template <typename T_> using Cast = movable_cast_t<T_>;
  template <typename> bool can_cast() const { return is_read_; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    if ((read<T>(source, flags & ~uint32_t{cast_flags::convert}, cleanup) || ...)) return true;
    return (flags & cast_flags::convert) != 0 && (read<T>(source, flags, cleanup) || ...);
  }
  /** The range of the first alternative that is such a number. */
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return (explain_number<T>(source, flags, found) || ...);
  }
  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] {
      return std::visit(
          [&](auto &&each) {
            using Each = decltype(each);
            return checked(make_caster<Each>::from_cpp(std::forward<Each>(each), policy, cleanup));
          },
          std::forward<U>(source));
    });
  }
  static handle from_cpp(const Value *source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return source == nullptr ? handle(none_value()) : from_cpp(*source, policy, cleanup);
  }
  explicit operator Value &() { return *pointer(); }
  explicit operator Value &&() { return std::move(*pointer()); }
  explicit operator Value *() { return pointer(); }

private:
  template <typename Alternative> bool read(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      make_caster<Alternative> inner;
      if (!read_inner<Alternative>(&inner, source, flags, cleanup)) return false;
      put<Alternative>(inner.operator cast_t<Alternative>());
      return is_read_ = true;
    } catch (...) { /* no memory, or a constructor that failed */
      return false;
    }
  }
  template <typename Alternative, typename U> void put(U &&source) {
    if constexpr (!begins_with_value) {
      value_.emplace(std::in_place_type<Alternative>, std::forward<U>(source));
    } else {
      if constexpr (std::is_assignable_v<Alternative &, U &&>) {
        if (auto *known = std::get_if<Alternative>(&value_)) {
          *known = std::forward<U>(source);
          return;
        }
      }
      value_.template emplace<Alternative>(std::forward<U>(source));
    }
  }
  Value *pointer() {
    if constexpr (begins_with_value) {
      return &value_;
    } else {
      return &*value_;
    }
  }

  std::conditional_t<begins_with_value, Value, std::optional<Value>> value_{};
  bool is_read_ = false;
};
template <typename... T>
struct has_arg_defaults<std::variant<T...>> : std::disjunction<has_arg_defaults<intrinsic_t<T>>...> {};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_VARIANT_H_ */
