/* tuple.h - Tuple<A, B, ...>: values of these types in this order, stored in an Array. Copy on write. */
#ifndef TVM_FFI_CONTAINER_TUPLE_H_
#define TVM_FFI_CONTAINER_TUPLE_H_

#include <tvm/ffi/container/array.h>

#include <tuple>

namespace tvm::ffi {

/** A reference to an Array of fixed size whose items have the given types. */
template <typename... Types> class Tuple : public ObjectRef {
  static_assert(detail::CheckElements<Types...>());
  template <size_t I> using ItemType = std::tuple_element_t<I, std::tuple<Types...>>;
  template <typename... U>
  static constexpr bool kIsItems = sizeof...(U) == sizeof...(Types) && sizeof...(U) != 0 &&
                                   !(sizeof...(U) == 1 && (std::is_same_v<std::decay_t<U>, Tuple> && ...));

public:
  /** The class of the objects. */
  using ContainerType = ArrayObj;
  static constexpr bool _type_container_is_exact = false;
  static constexpr bool _type_is_nullable = false;

  /** Default constructs each item. */
  Tuple() : ObjectRef(Make(Types()...)) {}
  /** Leaves the reference null; the caller fills it in. */
  explicit Tuple(UnsafeInit tag) : ObjectRef(tag) {}
  /** From one value for each item; values convert to the types of the items. */
  template <typename... U, typename = std::enable_if_t<kIsItems<U...>>>
  explicit Tuple(U &&...items) : ObjectRef(Make(Types(std::forward<U>(items))...)) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(Tuple)
  /** From a tuple whose items are of these types. Both share the items. */
  template <typename... U,
            std::enable_if_t<!std::is_same_v<Tuple<U...>, Tuple> && type_subsumes_v<Tuple, Tuple<U...>>, int> = 0>
  Tuple(const Tuple<U...> &other) : ObjectRef(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(other)) {}
  template <typename... U,
            std::enable_if_t<!std::is_same_v<Tuple<U...>, Tuple> && type_subsumes_v<Tuple, Tuple<U...>>, int> = 0>
  Tuple(Tuple<U...> &&other) : ObjectRef(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(other))) {}

  /** The item at an index. */
  template <size_t I> ItemType<I> get() const & {
    return detail::AnyUnsafe::CopyFromAnyViewAfterCheck<ItemType<I>>(Items()->begin()[I]);
  }
  /** Moves the item out if the items are not shared. */
  template <size_t I> ItemType<I> get() && {
    if (!data_.unique()) return std::as_const(*this).template get<I>();
    return detail::AnyUnsafe::MoveFromAnyAfterCheck<ItemType<I>>(std::move(const_cast<Any &>(Items()->begin()[I])));
  }
  /** Replaces an item, after a copy of the items if another reference shares them. */
  template <size_t I, typename U> void Set(U &&item) {
    Any value(ItemType<I>(std::forward<U>(item)));
    if (!data_.unique()) data_ = ArrayObj::CopyFrom(sizeof...(Types), Items());
    Items()->SetItemAfterCheck(I, std::move(value));
  }

private:
  static ObjectPtr<Object> Make(Types... items) {
    ObjectPtr<ArrayObj> array = ArrayObj::Empty(sizeof...(Types));
    Any *place = array->MakeGap(0, sizeof...(Types)); /* only a conversion to Any can throw from here on */
    ArrayObj::FillGap(place, sizeof...(Types));
    ((*place++ = Any(std::move(items))), ...);
    (void)place;
    return array;
  }
  ArrayObj *Items() const { return static_cast<ArrayObj *>(data_.get()); }
};

template <typename... U> Tuple(U &&...) -> Tuple<std::remove_cv_t<std::remove_reference_t<U>>...>;

template <typename... T, typename... U>
inline constexpr bool type_subsumes_v<Tuple<T...>, Tuple<U...>, std::enable_if_t<sizeof...(T) == sizeof...(U)>> =
    (type_subsumes_v<T, U> && ...);

template <typename... Types> inline constexpr bool use_default_type_traits_v<Tuple<Types...>> = false;

/** Accepts an Array with the same number of items, each of its type. Another sequence of that size is converted item by
 * item into a new Tuple. */
template <typename... Types> struct TypeTraits<Tuple<Types...>> : ObjectRefTypeTraitsBase<Tuple<Types...>> {
  using Base = ObjectRefTypeTraitsBase<Tuple<Types...>>;
  using Index = std::index_sequence_for<Types...>;

  static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIArray && HasSize(src) && ItemsAre(Items(src), Index{});
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    if (!IsSequence(src)) {
      Any items = detail::WideItems(src);
      return items == nullptr ? TypeTraitsBase::GetMismatchTypeInfo(src)
                              : GetMismatchTypeInfo(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(items));
    }
    if (!HasSize(src)) return "Array[size=" + std::to_string(Seq(src)->size()) + "]";
    return Mismatch(Items(src), Index{});
  }
  static std::optional<Tuple<Types...>> TryCastFromAnyView(const TVMFFIAny *src) {
    if (!IsSequence(src)) return TryCastWide(detail::WideItems(src));
    if (!HasSize(src)) return std::nullopt;
    if (src->type_index == kTVMFFIArray && ItemsAre(Items(src), Index{})) return Base::CopyFromAnyViewAfterCheck(src);
    std::optional<std::tuple<Types...>> items = detail::ConvertItems<Types...>(Items(src));
    if (!items.has_value()) return std::nullopt;
    return std::make_from_tuple<Tuple<Types...>>(*std::move(items));
  }
  static std::string TypeStr() { return detail::ContainerTypeStr<Types...>("Tuple"); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<Types...>("Tuple"); }

private:
  static std::optional<Tuple<Types...>> TryCastWide(const Any &items) {
    if (items == nullptr) return std::nullopt;
    return TryCastFromAnyView(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(items));
  }
  static bool IsSequence(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIArray || src->type_index == kTVMFFIList;
  }
  static const SeqBaseObj *Seq(const TVMFFIAny *src) {
    return detail::ObjectUnsafe::RawObjectPtrFromUnowned<SeqBaseObj>(src->v_obj);
  }
  static const Any *Items(const TVMFFIAny *src) { return Seq(src)->begin(); }
  static bool HasSize(const TVMFFIAny *src) { return Seq(src)->size() == sizeof...(Types); }
  template <size_t... I> static bool ItemsAre([[maybe_unused]] const Any *items, std::index_sequence<I...>) {
    return (detail::AnyUnsafe::CheckAnyStrict<Types>(items[I]) && ...);
  }
  template <size_t... I> static std::string Mismatch(const Any *items, std::index_sequence<I...>) {
    std::string found = "Array";
    (void)(detail::MismatchAt<Types>(items[I], I, &found) || ...);
    return found;
  }
};

/** The item at an index. */
template <size_t I, typename... Types> auto get(const Tuple<Types...> &tuple) { return tuple.template get<I>(); }
/** The item at an index, of a temporary tuple. */
template <size_t I, typename... Types> auto get(Tuple<Types...> &&tuple) { return std::move(tuple).template get<I>(); }

} // namespace tvm::ffi

namespace std {
template <typename... Types>
struct tuple_size<::tvm::ffi::Tuple<Types...>> : integral_constant<size_t, sizeof...(Types)> {};
template <size_t I, typename... Types> struct tuple_element<I, ::tvm::ffi::Tuple<Types...>> {
  using type = tuple_element_t<I, tuple<Types...>>;
};
} // namespace std

#endif /* TVM_FFI_CONTAINER_TUPLE_H_ */
