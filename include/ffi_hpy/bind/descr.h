/* descr.h - the text of a type in Python's words, as a constant of the compiler. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_DESCR_H_
#define FFI_HPY_BIND_DESCR_H_

#include <ffi_hpy/bind/runtime.h>

#include <typeinfo>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A text of N characters. Each '%' of it is the name of a class or an enum, in the order of Ts. */
template <size_t N, typename... Ts> struct descr {
  char text[N + 1];

  template <typename... Chars> constexpr explicit descr(std::in_place_t, Chars... chars) : text{chars..., '\0'} {}

  /** The classes and enums, and null at the end. */
  static constexpr const std::type_info *const *types() { return list; }

private:
  static constexpr const std::type_info *list[sizeof...(Ts) + 1] = {&typeid(Ts)..., nullptr};
};

template <size_t... I> constexpr descr<sizeof...(I)> const_name(const char *text, std::index_sequence<I...>) {
  return descr<sizeof...(I)>(std::in_place, text[I]...);
}
template <size_t N, typename... Ts, size_t M, typename... Us, size_t... I, size_t... J>
constexpr descr<N + M, Ts..., Us...> joined(const descr<N, Ts...> &a, const descr<M, Us...> &b,
                                            std::index_sequence<I...>, std::index_sequence<J...>) {
  return descr<N + M, Ts..., Us...>(std::in_place, a.text[I]..., b.text[J]...);
}
template <size_t N, typename... Ts, size_t M, typename... Us>
constexpr descr<N + M, Ts..., Us...> operator+(const descr<N, Ts...> &a, const descr<M, Us...> &b) {
  return joined(a, b, std::make_index_sequence<N>(), std::make_index_sequence<M>());
}

/** A literal text. */
template <size_t N> constexpr descr<N - 1> const_name(const char (&text)[N]) {
  return const_name(text, std::make_index_sequence<N - 1>());
}
/** One of two texts. */
template <bool B, size_t N, size_t M> constexpr auto const_name(const char (&yes)[N], const char (&no)[M]) {
  if constexpr (B) {
    return const_name(yes);
  } else {
    return const_name(no);
  }
}
template <bool B, typename Yes, typename No> constexpr auto const_name(const Yes &yes, const No &no) {
  if constexpr (B) {
    return yes;
  } else {
    return no;
  }
}
/** The text of a parameter, and the text of a result: type_text() chooses. */
template <typename Parameter, typename Result>
constexpr auto io_name(const Parameter &parameter, const Result &result) {
  return const_name("\1") + parameter + const_name("\2") + result + const_name("\3");
}
template <size_t N, size_t M> constexpr auto io_name(const char (&parameter)[N], const char (&result)[M]) {
  return io_name(const_name(parameter), const_name(result));
}
/** Text in which parameters and results change places: the parameters of a callable. */
template <typename T> constexpr auto opposite_name(const T &inner) {
  return const_name("\4") + inner + const_name("\4");
}
/** A number that is not negative. */
template <size_t Number> constexpr auto const_name() {
  if constexpr (Number < 10) {
    return descr<1>(std::in_place, static_cast<char>('0' + Number));
  } else {
    return const_name<Number / 10>() + const_name<Number % 10>();
  }
}
/** The name of a bound class or enum. */
template <typename T> constexpr descr<1, T> const_name() { return descr<1, T>(std::in_place, '%'); }

/** Texts with ", " between them. */
constexpr descr<0> concat() { return descr<0>(std::in_place); }
template <size_t N, typename... Ts> constexpr descr<N, Ts...> concat(const descr<N, Ts...> &only) { return only; }
template <typename First, typename... More> constexpr auto concat(const First &first, const More &...more) {
  return first + const_name(", ") + concat(more...);
}
/** Texts with " | " between them; empty texts are left out. */
template <typename Only> constexpr Only union_name(const Only &only) { return only; }
template <typename First, typename... More> constexpr auto union_name(const First &first, const More &...more) {
  if constexpr (sizeof(first.text) == 1) {
    return union_name(more...);
  } else if constexpr (sizeof(union_name(more...).text) == 1) {
    return first;
  } else {
    return first + const_name(" | ") + union_name(more...);
  }
}
template <typename T> constexpr auto optional_name(const T &inner) { return inner + const_name(" | None"); }

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_DESCR_H_ */
