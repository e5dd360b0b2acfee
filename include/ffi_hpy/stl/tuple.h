/* tuple.h - std::tuple as an argument and as a result: a tuple; as an argument any sequence of that length. */
#ifndef FFI_HPY_STL_TUPLE_H_
#define FFI_HPY_STL_TUPLE_H_

#include <ffi_hpy/stl/detail.h>

#include <tuple>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Tuples of the items T: std::tuple and std::pair. A tuple may contain references, so the value is made when it is
 * used. */
template <typename Tuple, typename... T> struct tuple_caster {
  using Value = Tuple;
  static constexpr bool takes_python = (takes_python_v<T> || ...);
  static constexpr auto Name = const_name("tuple[") +
                               const_name<sizeof...(T) == 0>(const_name("()"), concat(make_caster<T>::Name...)) +
                               const_name("]");
  template <typename> using Cast = Tuple;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      return items_.read(source, flags, takes_python) && items_.size() == sizeof...(T) &&
             items_.template outlive<T...>(cleanup) && read(std::index_sequence_for<T...>(), flags, cleanup);
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    sequence items;
    return items.read(source, flags, takes_python) &&
           (explain_size(items.size(), sizeof...(T), found) ||
            explain_each(std::index_sequence_for<T...>(), items, flags, found));
  }
  template <typename> bool can_cast() const { return can(std::index_sequence_for<T...>()); }
  explicit operator Tuple() { return value_of_items(std::index_sequence_for<T...>()); }

  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&value, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make(std::forward<U>(value), policy, cleanup, nullptr);
  }
  template <typename U>
  static handle make(U &&value, rv_policy policy, cleanup_list *cleanup, python_values python) noexcept {
    return make_python(std::index_sequence_for<T...>(), std::forward<U>(value), policy, cleanup, python);
  }
  static handle from_cpp(const Tuple *value, rv_policy policy, cleanup_list *cleanup) noexcept {
    return value == nullptr ? handle(none_value()) : from_cpp(*value, policy, cleanup);
  }

private:
  template <size_t... I>
  bool read(std::index_sequence<I...>, [[maybe_unused]] uint32_t flags, [[maybe_unused]] cleanup_list *cleanup) {
    return (read_inner<T>(&std::get<I>(casters_), items_[I], flags, cleanup) && ...);
  }
  template <size_t... I>
  static bool explain_each(std::index_sequence<I...>, [[maybe_unused]] const sequence &items,
                           [[maybe_unused]] uint32_t flags, [[maybe_unused]] mismatch *found) {
    [[maybe_unused]] size_t n = found->place.size();
    return ((found->place.resize(n), add_index(&found->place, I),
             explain_inner<T>(items[I], flags, found) && found->in_item(I)) ||
            ...);
  }
  template <size_t... I> bool can(std::index_sequence<I...>) const {
    return (std::get<I>(casters_).template can_cast<T>() && ...);
  }
  template <size_t... I> Tuple value_of_items(std::index_sequence<I...>) {
    return Tuple(std::get<I>(casters_).operator cast_t<T>()...);
  }
  template <size_t... I, typename U>
  static handle make_python(std::index_sequence<I...>, U &&value, [[maybe_unused]] rv_policy policy,
                            [[maybe_unused]] cleanup_list *cleanup, python_values python) {
    python_container made(python, kFfiHpyTuple, sizeof...(T));
    TVMFFIAny *next = made.begin();
    if (next == nullptr) return handle();
    [[maybe_unused]] auto add = [&next](handle item) {
      if (item.is_valid()) *next++ = item.any();
      return item.is_valid();
    };
    bool is_full = (add(make_value<T>(std::get<I>(std::forward<U>(value)), item_policy(policy), cleanup,
                                      maker_of<U, T>(python))) &&
                    ...);
    return is_full ? made.finish(next) : made.fail(next);
  }

  sequence items_; /* first: items may refer to it */
  std::tuple<make_caster<T>...> casters_;
};

template <typename... T> struct type_caster<std::tuple<T...>> : tuple_caster<std::tuple<T...>, T...> {
  using Borrows = borrows_with<type_caster, T...>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_TUPLE_H_ */
