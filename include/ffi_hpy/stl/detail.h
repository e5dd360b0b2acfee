/* detail.h - shared by the casters of the standard library's containers. */
#ifndef FFI_HPY_STL_DETAIL_H_
#define FFI_HPY_STL_DETAIL_H_

#include <ffi_hpy/bind/function.h>

#include <vector>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The items of a sequence of Python: borrowed from an argument, or a copy of another iterable's. */
class sequence {
public:
  /** False if the value is not a sequence. `convert`: whether sets, ranges and other iterables are accepted. */
  bool read(const TVMFFIAny &value, bool convert) {
    if (value.type_index == kTVMFFIArray) return view(value);
    return keep(value, convert ? FFI_HPY_CONVERT : 0);
  }
  /** The keys and values of a mapping, in turn. False if the value is not a mapping. */
  bool read_pairs(const TVMFFIAny &value) { return keep(value, FFI_HPY_PAIRS); }
  size_t size() const { return size_; }
  const TVMFFIAny &operator[](size_t i) const { return begin_[i]; }

private:
  bool view(const TVMFFIAny &value) {
    const auto *cell = reinterpret_cast<const TVMFFISeqCell *>(value.v_obj + 1);
    begin_ = static_cast<const TVMFFIAny *>(cell->data);
    size_ = static_cast<size_t>(cell->size);
    return true;
  }
  bool keep(const TVMFFIAny &value, uint32_t flags) {
    check(api->container_items(&value, flags, &kept_.value));
    return !kept_.is_none() && view(kept_.value);
  }

  owned kept_;
  const TVMFFIAny *begin_ = nullptr;
  size_t size_ = 0;
};

/** A tuple, list, set or dict of Python of n items; for a dict, key and value in turn. */
class python_container {
public:
  python_container(uint32_t kind, size_t n) {
    TVMFFIObjectHandle made = nullptr;
    check(api->container_new(kind, n, &made));
    object_ = owned(view_of(made));
    cell_ = reinterpret_cast<TVMFFISeqCell *>(object_.value.v_obj + 1);
  }
  /** Sets the next item. */
  void add(owned item) { static_cast<TVMFFIAny *>(cell_->data)[cell_->size++] = item.release(); }
  owned finish() { return std::move(object_); }

private:
  owned object_;
  TVMFFISeqCell *cell_ = nullptr;
};

/** Makes room in containers that have reserve(). */
template <typename C> auto reserve(C *container, size_t n) -> decltype(container->reserve(n)) { container->reserve(n); }
inline void reserve(void *, size_t) {}

/** The item of a container that a function returns: moved out of a container that is a temporary. */
template <typename Item, typename Container> decltype(auto) forward_item(Item &item) {
  if constexpr (std::is_lvalue_reference_v<Container>) {
    return item;
  } else {
    return std::move(item);
  }
}

/** The policy for items: those of a returned container are copied or moved, unless the author says otherwise. */
inline rv_policy item_policy(rv_policy policy) {
  return policy == rv_policy::take_ownership ? rv_policy::automatic : policy;
}

/** The argument for an item: moved, unless it is a pointer. */
template <typename T> using moved = std::conditional_t<std::is_pointer_v<T>, T, T &&>;

/** Containers that are read from any sequence, item by item. Derived has `static void add(C *, T &&)`. */
template <typename Derived, typename C, typename T> struct sequence_caster : value_caster<C> {
  bool from(const TVMFFIAny &any, bool convert) {
    sequence items;
    if (!items.read(any, convert)) return false;
    this->value.clear();
    reserve(&this->value, items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      caster_for<T> item;
      if (refuses_none_v<caster_for<T>, T> && items[i].type_index == kTVMFFINone) return false;
      if (!item.from(items[i], convert)) return false;
      Derived::add(&this->value, item.template get<moved<T>>());
    }
    return true;
  }
  template <typename U> static owned to_python(uint32_t kind, U &&value, rv_policy policy, const TVMFFIAny *parent) {
    python_container made(kind, value.size());
    for (auto &&item : value) {
      made.add(caster_for<T>::to(forward_item<std::remove_reference_t<decltype(item)>, U>(item), item_policy(policy),
                                 parent));
    }
    return made.finish();
  }
};

/** Containers that become lists. */
template <typename C, typename T> struct list_caster : sequence_caster<list_caster<C, T>, C, T> {
  static void add(C *to, T &&item) { to->push_back(std::move(item)); }
  template <typename U> static owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return list_caster::to_python(kFfiHpyList, std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "list[" + caster_for<T>::name() + "]"; }
  static std::string schema() { return schema_of("list", caster_for<T>::schema()); }
};

/** Containers that become sets. */
template <typename C, typename T> struct set_caster : sequence_caster<set_caster<C, T>, C, T> {
  static void add(C *to, T &&item) { to->insert(std::move(item)); }
  template <typename U> static owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return set_caster::to_python(kFfiHpySet, std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "set[" + caster_for<T>::name() + "]"; }
  static std::string schema() { return schema_of("set", caster_for<T>::schema()); }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_DETAIL_H_ */
