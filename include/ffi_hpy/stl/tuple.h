/* tuple.h - std::tuple as an argument and as a result: a tuple; as an argument any sequence of that length. */
#ifndef FFI_HPY_STL_TUPLE_H_
#define FFI_HPY_STL_TUPLE_H_

#include <ffi_hpy/stl/detail.h>

#include <optional>
#include <tuple>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Tuples of the items T: std::tuple and std::pair. */
template <typename Tuple, typename... T> struct tuple_caster {
  std::tuple<caster_for<T>...> casters;

  bool from(const TVMFFIAny &any, bool convert) {
    sequence items;
    return items.read(any, convert) && items.size() == sizeof...(T) &&
           read(std::index_sequence_for<T...>(), items, convert);
  }
  template <typename A> A get() {
    static_assert(!std::is_pointer_v<std::remove_reference_t<A>>, "a pointer to a tuple cannot be a parameter");
    value_.emplace(make(std::index_sequence_for<T...>()));
    if constexpr (std::is_lvalue_reference_v<A>) {
      return *value_;
    } else {
      return std::move(*value_);
    }
  }
  template <typename U> static owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return make_python(std::index_sequence_for<T...>(), std::forward<U>(value), policy, parent);
  }
  static std::string name() { return joined("tuple[", &type_name, "]"); }
  static std::string schema() { return schema_of("tuple", joined("", &type_schema, "")); }

private:
  template <size_t... I>
  bool read(std::index_sequence<I...>, [[maybe_unused]] const sequence &items, [[maybe_unused]] bool convert) {
    return ((!(refuses_none_v<caster_for<T>, T> && items[I].type_index == kTVMFFINone) &&
             std::get<I>(casters).from(items[I], convert)) &&
            ...);
  }
  template <size_t... I> Tuple make(std::index_sequence<I...>) {
    return Tuple(std::get<I>(casters).template get<T>()...);
  }
  template <size_t... I, typename U>
  static owned make_python(std::index_sequence<I...>, U &&value, [[maybe_unused]] rv_policy policy,
                           [[maybe_unused]] const TVMFFIAny *parent) {
    python_container made(kFfiHpyTuple, sizeof...(T));
    (made.add(caster_for<T>::to(std::get<I>(std::forward<U>(value)), item_policy(policy), parent)), ...);
    return made.finish();
  }
  static std::string type_name(const type_text &type) { return type.name(); }
  static std::string type_schema(const type_text &type) { return type.schema(); }
  static std::string joined(const char *begin, std::string (*text)(const type_text &), const char *end) {
    std::string made(begin);
    [[maybe_unused]] const char *comma = "";
    ((made.append(comma).append(text(type_text{&caster_for<T>::name, &caster_for<T>::schema})), comma = ", "), ...);
    return made.append(end);
  }

  std::optional<Tuple> value_;
};

} // namespace detail

template <typename... T> struct caster<std::tuple<T...>> : detail::tuple_caster<std::tuple<T...>, T...> {};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_TUPLE_H_ */
