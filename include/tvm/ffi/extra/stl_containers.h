/* stl_containers.h - std::pair, list, deque, forward_list, set and unordered_set, also multisets, as arguments and
 * results. extra/stl.h includes it.
 *
 * The containers are copied, as std::vector is. A pair becomes an Array of two items, a list or deque an Array. A set
 * becomes Python's set, if the process has a Python, and otherwise an Array. */
#ifndef TVM_FFI_EXTRA_STL_CONTAINERS_H_
#define TVM_FFI_EXTRA_STL_CONTAINERS_H_

#include <tvm/ffi/extra/stl_base.h>

#include <deque>
#include <forward_list>
#include <list>
#include <set>
#include <unordered_set>
#include <utility>

namespace tvm::ffi {
namespace detail {

/** Traits of sequences whose nodes are appended one by one. Derived provides kTypeName. */
template <typename Derived, typename Self, typename T>
struct AppendedSeqTraitsBase : CopiedSeqTraitsBase<Derived, Self, T> {
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    SourceItems items(src);
    if (items == nullptr) return std::nullopt;
    Self result;
    for (const Any &item : *items) {
      std::optional<T> value = item.template try_cast<T>();
      if (!value.has_value()) return std::nullopt;
      Derived::Append(&result, *std::move(value));
    }
    Derived::Finish(&result);
    return result;
  }
  static void Append(Self *result, T value) { result->push_back(std::move(value)); }
  static void Finish(Self *) {}
  static std::string TypeStr() { return ContainerTypeStr<T>(Derived::kTypeName, "[", "]"); }
  static std::string TypeSchema() { return ContainerTypeSchema<T>("std::vector"); }
};

/** Whether a set has an order. */
template <typename Set, typename = void> struct IsOrdered : std::false_type {};
template <typename Set> struct IsOrdered<Set, std::void_t<typename Set::key_compare>> : std::true_type {};

/** Traits of sets. A value of Python's set is an object of Python, so a set is read widely everywhere. */
template <typename Derived, typename Self, typename T = typename Self::key_type>
struct SetTraitsBase : AppendedSeqTraitsBase<Derived, Self, T> {
  using Base = AppendedSeqTraitsBase<Derived, Self, T>;
  static constexpr const char *kTypeName = "set";
  static constexpr int32_t field_static_type_index = kTVMFFIAny;

  static void MoveToAny(Self src, TVMFFIAny *result) {
    Array<Any> items;
    for (const T &item : src) items.push_back(Any(T(item)));
    Any made = AskPython("set", items);
    if (made == nullptr) made = Any(std::move(items));
    *result = AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    Widening widening(Widening::IsOn() || src->type_index == kTVMFFIOpaquePyObject);
    return Base::TryCastFromAnyView(src);
  }
  /** ValueError for a NaN beside other items of an ordered set: no order has a place for it, so items would be lost. */
  static void Append(Self *result, T value) {
    if constexpr (std::is_floating_point_v<T> && IsOrdered<Self>::value) {
      size_t before = result->size();
      result->insert(value);
      bool has_nan = value != value || *result->begin() != *result->begin();
      if (has_nan && result->size() == before)
        TVM_FFI_THROW(ValueError) << "nan and another item cannot both be in a `" << Base::TypeStr() << '`';
    } else {
      result->insert(std::move(value));
    }
  }
  static std::string TypeSchema() { return ContainerTypeSchema<T>("std::set"); }
};

} // namespace detail

template <typename T, typename... Rest>
struct TypeTraits<std::list<T, Rest...>>
    : detail::AppendedSeqTraitsBase<TypeTraits<std::list<T, Rest...>>, std::list<T, Rest...>, T> {
  static constexpr const char *kTypeName = "list";
};
template <typename T, typename... Rest>
struct TypeTraits<std::deque<T, Rest...>>
    : detail::AppendedSeqTraitsBase<TypeTraits<std::deque<T, Rest...>>, std::deque<T, Rest...>, T> {
  static constexpr const char *kTypeName = "list";
};
template <typename T, typename... Rest>
struct TypeTraits<std::forward_list<T, Rest...>>
    : detail::AppendedSeqTraitsBase<TypeTraits<std::forward_list<T, Rest...>>, std::forward_list<T, Rest...>, T> {
  using Self = std::forward_list<T, Rest...>;
  static constexpr const char *kTypeName = "list";
  static Array<Any> ToRef(Self src) {
    Array<Any> items;
    for (T &item : src) items.push_back(Any(T(std::move(item))));
    return items;
  }
  static void Append(Self *result, T value) { result->push_front(std::move(value)); }
  static void Finish(Self *result) { result->reverse(); }
};

template <typename T, typename... Rest>
struct TypeTraits<std::set<T, Rest...>>
    : detail::SetTraitsBase<TypeTraits<std::set<T, Rest...>>, std::set<T, Rest...>> {};
template <typename T, typename... Rest>
struct TypeTraits<std::multiset<T, Rest...>>
    : detail::AppendedSeqTraitsBase<TypeTraits<std::multiset<T, Rest...>>, std::multiset<T, Rest...>, T> {
  static constexpr const char *kTypeName = "list";
  static void Append(std::multiset<T, Rest...> *result, T value) { result->insert(std::move(value)); }
};
template <typename T, typename... Rest>
struct TypeTraits<std::unordered_set<T, Rest...>>
    : detail::SetTraitsBase<TypeTraits<std::unordered_set<T, Rest...>>, std::unordered_set<T, Rest...>> {};
template <typename T, typename... Rest>
struct TypeTraits<std::unordered_multiset<T, Rest...>>
    : detail::AppendedSeqTraitsBase<TypeTraits<std::unordered_multiset<T, Rest...>>,
                                    std::unordered_multiset<T, Rest...>, T> {
  static constexpr const char *kTypeName = "list";
  static void Append(std::unordered_multiset<T, Rest...> *result, T value) { result->insert(std::move(value)); }
};

/** Two values, as a tuple of two. */
template <typename A, typename B>
struct TypeTraits<std::pair<A, B>>
    : detail::CopiedTraitsBase<TypeTraits<std::pair<A, B>>, std::pair<A, B>,
                               detail::convertible_or_any_v<A> && detail::convertible_or_any_v<B>> {
  using Items = std::tuple<A, B>;
  static constexpr int32_t field_static_type_index = kTVMFFIArray;

  static Array<Any> ToRef(std::pair<A, B> src) {
    return Array<Any>({Any(A(std::move(src.first))), Any(B(std::move(src.second)))});
  }
  static std::optional<std::pair<A, B>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Items> items = TypeTraits<Items>::TryCastFromAnyView(src);
    if (!items.has_value()) return std::nullopt;
    return std::pair<A, B>(std::get<0>(*std::move(items)), std::get<1>(*std::move(items)));
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return TypeTraits<Items>::GetMismatchTypeInfo(src); }
  static std::string TypeStr() { return TypeTraits<Items>::TypeStr(); }
  static std::string TypeSchema() { return TypeTraits<Items>::TypeSchema(); }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STL_CONTAINERS_H_ */
