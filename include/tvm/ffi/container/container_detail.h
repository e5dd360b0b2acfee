/* container_detail.h - shared by containers: iterators that convert elements, and the names of container types. */
#ifndef TVM_FFI_CONTAINER_CONTAINER_DETAIL_H_
#define TVM_FFI_CONTAINER_CONTAINER_DETAIL_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/widen.h>

#include <initializer_list>
#include <iterator>
#include <tuple>
#include <type_traits>

namespace tvm::ffi::detail {

/** Whether all T can be elements. */
template <typename... T> inline constexpr bool all_storage_enabled_v = (storage_enabled_v<T> && ...);
template <typename... T> constexpr bool CheckElements() { return (CheckElement<T>() && ...); }
template <typename... T> inline constexpr bool all_object_ref_v = (std::is_base_of_v<ObjectRef, T> && ...);

/** Restricts a constructor to two iterators, because two numbers mean something else. */
template <typename IterType> using EnableIfIterator = std::void_t<decltype(*std::declval<IterType &>())>;

/** An iterator that applies Converter::convert to the elements of TIter. The iterator returns elements by value, so it
 * has no operator->. */
template <typename Converter, typename TIter> class IterAdapter {
public:
  using difference_type = typename std::iterator_traits<TIter>::difference_type;
  using value_type = typename Converter::ResultType;
  using pointer = const value_type *;
  using reference = const value_type;
  using iterator_category = typename std::iterator_traits<TIter>::iterator_category;

  IterAdapter() : iter_() {}
  explicit IterAdapter(TIter iter) : iter_(iter) {}
  reference operator*() const { return Converter::convert(*iter_); }
  reference operator[](difference_type n) const { return *(*this + n); }
  IterAdapter &operator++() {
    ++iter_;
    return *this;
  }
  IterAdapter &operator--() {
    --iter_;
    return *this;
  }
  IterAdapter operator++(int) { return IterAdapter(iter_++); }
  IterAdapter operator--(int) { return IterAdapter(iter_--); }
  IterAdapter operator+(difference_type n) const { return IterAdapter(iter_ + n); }
  IterAdapter operator-(difference_type n) const { return IterAdapter(iter_ - n); }
  friend IterAdapter operator+(difference_type n, const IterAdapter &iter) { return iter + n; }
  IterAdapter &operator+=(difference_type n) {
    iter_ += n;
    return *this;
  }
  IterAdapter &operator-=(difference_type n) {
    iter_ -= n;
    return *this;
  }
  difference_type operator-(const IterAdapter &other) const { return iter_ - other.iter_; }
  bool operator==(const IterAdapter &other) const { return iter_ == other.iter_; }
  bool operator!=(const IterAdapter &other) const { return iter_ != other.iter_; }
  bool operator<(const IterAdapter &other) const { return iter_ < other.iter_; }
  bool operator>(const IterAdapter &other) const { return iter_ > other.iter_; }
  bool operator<=(const IterAdapter &other) const { return iter_ <= other.iter_; }
  bool operator>=(const IterAdapter &other) const { return iter_ >= other.iter_; }

private:
  TIter iter_;
};

/** IterAdapter in reverse order. */
template <typename Converter, typename TIter>
using ReverseIterAdapter = IterAdapter<Converter, std::reverse_iterator<TIter>>;

/** Converter from elements of type Any to T. */
template <typename T> struct AnyConverter {
  using ResultType = T;
  TVM_FFI_INLINE static T convert(const Any &value) { return AnyUnsafe::CopyFromAnyViewAfterCheck<T>(value); }
};

/* Not cold, because GCC 12 then warns of an optional that it believes to be uninitialized. */
template <typename T> TVM_FFI_NO_INLINE T CastShared(const Any &value) { return value.cast<T>(); }

/** Whether a value that was a T is one still. Of an Array or another container it checks the class only: a check of all
 * items would take long each time C++ reads the container. */
template <typename T, typename = void> struct IsStill {
  TVM_FFI_INLINE static bool check(const Any &value) { return AnyUnsafe::CheckAnyStrict<T>(value); }
};
template <typename T> struct IsStill<T, std::void_t<typename T::ContainerType, typename T::iterator>> {
  TVM_FFI_INLINE static bool check(const Any &value) {
    int32_t type_index = value.type_index();
    return type_index >= kTVMFFIStaticObjectBegin && IsObjectInstance<typename T::ContainerType>(type_index);
  }
};
/** Converter from the items of a List or the entries of a Dict to T. Python and other libraries may have changed them
 * since the types were checked, so each is checked again. */
template <typename T> struct SharedConverter {
  using ResultType = T;
  TVM_FFI_INLINE static T convert(const Any &value) {
    if (TVM_FFI_PREDICT_TRUE(IsStill<T>::check(value))) return AnyUnsafe::CopyFromAnyViewAfterCheck<T>(value);
    return CastShared<T>(value);
  }
};
template <> struct SharedConverter<Any> : AnyConverter<Any> {};
template <typename TObj, typename T>
using ConverterFor = std::conditional_t<TObj::kIsShared, SharedConverter<T>, AnyConverter<T>>;

/** "Name<A, B>" */
template <typename... T>
std::string ContainerTypeStr(std::string text, const char *open = "<", const char *close = ">") {
  static constexpr TypeText types[] = {&Type2Str<T>::v..., nullptr};
  return JoinTypes(std::move(text.append(open)), types, sizeof...(T), ", ", close);
}
/** {"type":"Name","args":[A,B]} */
template <typename... T> std::string ContainerTypeSchema(const char *name) {
  static constexpr TypeText types[] = {&TypeSchema<T>::v..., nullptr};
  return JoinTypes(std::string("{\"type\":\"").append(name).append("\",\"args\":["), types, sizeof...(T), ",", "]}");
}

/** Whether item i of a sequence does not convert to T; if so, *found becomes a description like "Array[index 2:
 * str]". */
template <typename T> bool MismatchAt(const Any &item, size_t i, std::string *found, const char *name = "Array") {
  if constexpr (std::is_same_v<T, Any>) {
    return false;
  } else {
    if (item.template try_cast<T>().has_value()) return false;
    *found = std::string(name) + "[index " + std::to_string(i) + ": " + ItemMark(i) +
             AnyUnsafe::GetMismatchTypeInfo<T>(item) + "]";
    return true;
  }
}

/** Converts sizeof...(T) items, each to its type. */
template <typename... T> struct ItemConverter;
template <> struct ItemConverter<> {
  static std::optional<std::tuple<>> Convert(const Any *) { return std::tuple<>(); }
};
template <typename T, typename... Rest> struct ItemConverter<T, Rest...> {
  static std::optional<std::tuple<T, Rest...>> Convert(const Any *items) {
    std::optional<T> first = items->template try_cast<T>();
    if (!first.has_value()) return std::nullopt;
    std::optional<std::tuple<Rest...>> rest = ItemConverter<Rest...>::Convert(items + 1);
    if (!rest.has_value()) return std::nullopt;
    return std::tuple_cat(std::tuple<T>(*std::move(first)), *std::move(rest));
  }
};
template <typename... T> std::optional<std::tuple<T...>> ConvertItems(const Any *items) {
  return ItemConverter<T...>::Convert(items);
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_CONTAINER_CONTAINER_DETAIL_H_ */
