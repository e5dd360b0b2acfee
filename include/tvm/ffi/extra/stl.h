/* stl.h - types of the standard library as arguments and results: std::vector, array, tuple, map, unordered_map,
 * function, optional, variant; and, by the headers stl_*.h, which this one includes, pair, list, deque, set,
 * unordered_set, string_view, wstring, shared_ptr, unique_ptr, monostate. (For std::string, string.h is enough;
 * chrono.h, complex.h and filesystem.h have the types of those headers.)
 *
 * Containers are copied: each becomes a new Array or Map, and any Array or List, Map or Dict whose items convert is
 * copied into one. The types are meant for the border between libraries; data that stays in values should be in an
 * Array or a Map from the beginning. A container is not an object, so an Any cannot hold it, and a view cannot refer to
 * it: a call passes an Any made of the container. */
#ifndef TVM_FFI_EXTRA_STL_H_
#define TVM_FFI_EXTRA_STL_H_

#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/stl_base.h>
#include <tvm/ffi/extra/stl_containers.h>
#include <tvm/ffi/extra/stl_memory.h>
#include <tvm/ffi/extra/stl_text.h>
#include <tvm/ffi/function.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tvm::ffi {

template <typename T, typename... Rest>
struct TypeTraits<std::vector<T, Rest...>>
    : detail::CopiedSeqTraitsBase<TypeTraits<std::vector<T, Rest...>>, std::vector<T, Rest...>, T> {
  static std::optional<std::vector<T, Rest...>> TryCastFromAnyView(const TVMFFIAny *src) {
    detail::SourceItems items(src);
    if (items == nullptr) return std::nullopt;
    std::vector<T, Rest...> result;
    result.reserve(items->size());
    for (const Any &item : *items) {
      std::optional<T> value = item.template try_cast<T>();
      if (!value.has_value()) return std::nullopt;
      result.push_back(*std::move(value));
    }
    return result;
  }
  static std::string TypeStr() { return detail::ContainerTypeStr<T>("list", "[", "]"); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<T>("std::vector"); }
};

/** Converts a sequence of exactly N items. T must be default constructible. */
template <typename T, size_t N>
struct TypeTraits<std::array<T, N>> : detail::CopiedSeqTraitsBase<TypeTraits<std::array<T, N>>, std::array<T, N>, T> {
  static std::optional<std::array<T, N>> TryCastFromAnyView(const TVMFFIAny *src) {
    detail::SourceItems items(src);
    if (items == nullptr || items->size() != N) return std::nullopt;
    std::array<T, N> result{};
    for (size_t i = 0; i < N; ++i) {
      std::optional<T> value = items->begin()[i].template try_cast<T>();
      if (!value.has_value()) return std::nullopt;
      result[i] = *std::move(value);
    }
    return result;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    detail::SourceItems items(src);
    if (items != nullptr && items->size() != N)
      return detail::GivenClass(src) + "[size=" + std::to_string(items->size()) + "]";
    return TypeTraits::CopiedSeqTraitsBase::GetMismatchTypeInfo(src);
  }
  static std::string TypeStr() { return "list[" + detail::Type2Str<T>::v() + "] of length " + std::to_string(N); }
  static std::string TypeSchema() {
    return "{\"type\":\"std::array\",\"args\":[" + detail::TypeSchema<T>::v() + "," + std::to_string(N) + "]}";
  }
};

template <typename... T>
struct TypeTraits<std::tuple<T...>> : detail::CopiedTraitsBase<TypeTraits<std::tuple<T...>>, std::tuple<T...>,
                                                               (detail::convertible_or_any_v<T> && ...)> {
  static constexpr int32_t field_static_type_index = kTVMFFIArray;

  static Array<Any> ToRef(std::tuple<T...> src) {
    return std::apply([](T &...items) { return Array<Any>({Any(T(std::move(items)))...}); }, src);
  }
  static std::optional<std::tuple<T...>> TryCastFromAnyView(const TVMFFIAny *src) {
    detail::SourceItems items(src);
    if (items == nullptr || items->size() != sizeof...(T)) return std::nullopt;
    return detail::ConvertItems<T...>(items->begin());
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    detail::SourceItems items(src);
    std::string name = detail::GivenClass(src), found = name;
    if (items == nullptr) return found;
    if (items->size() != sizeof...(T)) return name + "[size=" + std::to_string(items->size()) + "]";
    [[maybe_unused]] size_t i = 0;
    (void)((detail::MismatchAt<T>(items->begin()[i], i, &found, name.c_str()) || (++i, false)) || ...);
    return found;
  }
  static std::string TypeStr() { return detail::ContainerTypeStr<T...>("tuple", "[", "]"); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<T...>("std::tuple"); }
};

/* ---- Maps ---- */

namespace detail {

template <typename... T> void ReserveBuckets(std::unordered_map<T...> *map, size_t n) { map->reserve(n); }
template <typename... T> void ReserveBuckets(std::map<T...> *, size_t) {}

template <typename Derived, typename Self, typename K = typename Self::key_type,
          typename V = typename Self::mapped_type>
struct CopiedMapTraitsBase : CopiedTraitsBase<Derived, Self, convertible_or_any_v<K> && convertible_or_any_v<V>> {
  static constexpr int32_t field_static_type_index = kTVMFFIMap;

  static Map<Any, Any> ToRef(Self src) {
    Map<Any, Any> pairs;
    for (auto &pair : src) pairs.Set(Any(K(pair.first)), Any(V(std::move(pair.second))));
    return pairs;
  }
  /** ValueError if two keys convert to the same key. */
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    Any owned;
    const MapBaseObj *pairs = PairsOrNull(src, &owned);
    if (pairs == nullptr) return std::nullopt;
    Self result;
    ReserveBuckets(&result, pairs->size());
    for (const auto &pair : *pairs) {
      std::optional<K> key = pair.first.template try_cast<K>();
      std::optional<V> value = pair.second.template try_cast<V>();
      if (!key.has_value() || !value.has_value()) return std::nullopt;
      bool is_new = result.emplace(*std::move(key), *std::move(value)).second;
      if (!is_new) TVM_FFI_THROW(ValueError) << "two keys of the mapping are one key as `" << TypeStr() << '`';
    }
    return result;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    Any owned;
    const MapBaseObj *pairs = PairsOrNull(src, &owned);
    return pairs == nullptr ? GivenClass(src) : PairMismatch<K, V>(*pairs, "dict");
  }
  static std::string TypeStr() { return ContainerTypeStr<K, V>("dict", "[", "]"); }
  static std::string TypeSchema() { return ContainerTypeSchema<K, V>(Derived::kTypeName); }

private:
  /** The pairs of a value, borrowed, or after a wide conversion (widen.h) owned by *owned. */
  static const MapBaseObj *PairsOrNull(const TVMFFIAny *src, Any *owned) {
    if (src->type_index != kTVMFFIMap && src->type_index != kTVMFFIDict) {
      *owned = WidePairs(src);
      if (*owned == nullptr) return nullptr;
      src = AnyUnsafe::TVMFFIAnyPtrFromAny(*owned);
    }
    return ObjectUnsafe::RawObjectPtrFromUnowned<MapBaseObj>(src->v_obj);
  }
};

} // namespace detail

template <typename K, typename V, typename... Rest>
struct TypeTraits<std::map<K, V, Rest...>>
    : detail::CopiedMapTraitsBase<TypeTraits<std::map<K, V, Rest...>>, std::map<K, V, Rest...>> {
  static constexpr const char *kTypeName = "std::map";
};
template <typename K, typename V, typename... Rest>
struct TypeTraits<std::unordered_map<K, V, Rest...>>
    : detail::CopiedMapTraitsBase<TypeTraits<std::unordered_map<K, V, Rest...>>, std::unordered_map<K, V, Rest...>> {
  static constexpr const char *kTypeName = "std::unordered_map";
};

/* ---- Functions: an empty one is None ---- */

namespace detail {
/** A Function in a std::function, which finds it again, as the same object, when it leaves C++ or the garbage collector
 * looks for it. */
template <typename R, typename... Args> struct FunctionInStd {
  TypedFunction<R(Args...)> typed;
  R operator()(Args... args) const { return typed(std::forward<Args>(args)...); }
};
} // namespace detail

template <typename R, typename... Args>
struct TypeTraits<std::function<R(Args...)>>
    : detail::CopiedTraitsBase<TypeTraits<std::function<R(Args...)>>, std::function<R(Args...)>,
                               detail::FuncFunctorImpl<R, Args...>::unpacked_supported> {
  static constexpr int32_t field_static_type_index = kTVMFFIFunction;

  static Function ToRef(std::function<R(Args...)> src) {
#if defined(__cpp_rtti) || defined(__GXX_RTTI) || defined(_CPPRTTI)
    if (auto *known = src.template target<detail::FunctionInStd<R, Args...>>()) return known->typed.packed();
#endif
    return src ? Function::FromTyped(std::move(src)) : Function(nullptr);
  }
  static std::optional<std::function<R(Args...)>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Function> function = TypeTraits<Function>::TryCastFromAnyView(src);
    if (!function.has_value()) return std::nullopt;
    if (*function == nullptr) return std::function<R(Args...)>();
    return detail::FunctionInStd<R, Args...>{TypedFunction<R(Args...)>(*std::move(function))};
  }
  static std::string TypeStr() {
    return detail::ContainerTypeStr<Args...>("Callable[", "[", "], ") + detail::Type2Str<R>::v() + "]";
  }
  static std::string TypeSchema() { return detail::FuncFunctorImpl<R, Args...>::TypeSchema("std::function"); }
};

/* ---- Choices ---- */

template <typename T> struct TypeTraits<std::optional<T>> : TypeTraitsBase {
  using Self = std::optional<T>;
  static constexpr bool convert_enabled = TypeTraits<T>::convert_enabled;
  static constexpr bool storage_enabled = TypeTraits<T>::storage_enabled;
  static constexpr bool kNeedsOwner = detail::needs_owner_v<T>;

  static void CopyToAnyView(const Self &src, TVMFFIAny *result) {
    if (src.has_value()) {
      TypeTraits<T>::CopyToAnyView(*src, result);
    } else {
      detail::PutNone(result);
    }
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    if (src.has_value()) {
      TypeTraits<T>::MoveToAny(*std::move(src), result);
    } else {
      detail::PutNone(result);
    }
  }
  static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFINone || TypeTraits<T>::CheckAnyStrict(src);
  }
  static Self CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFINone) return std::nullopt;
    return TypeTraits<T>::CopyFromAnyViewAfterCheck(src);
  }
  static Self MoveFromAnyAfterCheck(TVMFFIAny *src) {
    if (src->type_index == kTVMFFINone) return std::nullopt;
    return TypeTraits<T>::MoveFromAnyAfterCheck(src);
  }
  /** The outer optional is empty if the value does not convert; the inner one is empty for None. */
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFINone) return std::optional<Self>(std::in_place);
    Self value = TypeTraits<T>::TryCastFromAnyView(src);
    if (!value.has_value()) return std::nullopt;
    return std::optional<Self>(std::in_place, std::move(value));
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return TypeTraits<T>::GetMismatchTypeInfo(src); }
  static std::string TypeStr() {
    constexpr std::string_view kNone = " | None";
    std::string text = detail::Type2Str<T>::v();
    bool has_none = text.size() > kNone.size() && text.compare(text.size() - kNone.size(), kNone.size(), kNone) == 0;
    return has_none ? text : text.append(kNone);
  }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<T>("std::optional"); }
};

/** The first alternative whose type the value has; if there is none, the first to which it converts. */
template <typename... T> struct TypeTraits<std::variant<T...>> : TypeTraitsBase {
  using Self = std::variant<T...>;
  using Index = std::index_sequence_for<T...>;
  static constexpr bool convert_enabled = (TypeTraits<T>::convert_enabled && ...);
  static constexpr bool storage_enabled = (TypeTraits<T>::storage_enabled && ...);
  static constexpr bool kNeedsOwner = (detail::needs_owner_v<T> || ...);

  static void CopyToAnyView(const Self &src, TVMFFIAny *result) {
    std::visit([result](const auto &value) { TypeTraits<std::decay_t<decltype(value)>>::CopyToAnyView(value, result); },
               src);
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    std::visit(
        [result](auto &value) { TypeTraits<std::decay_t<decltype(value)>>::MoveToAny(std::move(value), result); }, src);
  }
  static bool CheckAnyStrict(const TVMFFIAny *src) { return (Is<T>(src) || ...); }
  static Self CopyFromAnyViewAfterCheck(const TVMFFIAny *src) { return *Strict(src, Index{}); }
  static Self MoveFromAnyAfterCheck(TVMFFIAny *src) {
    Any owned = detail::AnyUnsafe::MoveTVMFFIAnyToAny(src);
    return CopyFromAnyViewAfterCheck(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(owned));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Self> result = Strict(src, Index{});
    return result.has_value() ? std::move(result) : Converted(src, Index{});
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return detail::NoneOf<T...>(src); }
  static std::string TypeStr() {
    static constexpr detail::TypeText types[] = {&detail::Type2Str<T>::v...};
    return detail::JoinTypes("", types, sizeof...(T), " | ", "");
  }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<T...>("std::variant"); }

private:
  /** No value has a type that cannot be in an Any; values only convert to such a type. */
  template <typename U> static bool Is(const TVMFFIAny *src) {
    if constexpr (TypeTraits<U>::storage_enabled) {
      return TypeTraits<U>::CheckAnyStrict(src);
    } else {
      return false;
    }
  }
  template <size_t... I> static std::optional<Self> Strict(const TVMFFIAny *src, std::index_sequence<I...>) {
    std::optional<Self> result;
    (void)((Is<T>(src) && Try<I, T>(src, &result)) || ...);
    return result;
  }
  template <size_t... I> static std::optional<Self> Converted(const TVMFFIAny *src, std::index_sequence<I...>) {
    std::optional<Self> result;
    (void)(Try<I, T>(src, &result) || ...);
    return result;
  }
  template <size_t I, typename U> static bool Try(const TVMFFIAny *src, std::optional<Self> *result) {
    std::optional<U> value = TypeTraits<U>::TryCastFromAnyView(src);
    if (value.has_value()) result->emplace(std::in_place_index<I>, *std::move(value));
    return value.has_value();
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STL_H_ */
