/* detail.h - shared by the casters of the standard library's containers. */
#ifndef FFI_HPY_STL_DETAIL_H_
#define FFI_HPY_STL_DETAIL_H_

#include <ffi_hpy/bind/function.h>

#include <vector>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

inline bool is_list(handle source) { return is_kind("list", source) || is_kind("tuple", source); }

/** The items of a sequence of Python: borrowed from an argument, or a copy of another iterable's. */
class sequence {
public:
  /** False if the value is not a sequence. With the flag `convert`, sets, ranges and other iterables are accepted. */
  bool read(handle source, uint32_t flags) {
    const TVMFFIAny &value = source.any(), *from = &value;
    if (value.type_index != kTVMFFIArray && value.type_index != kTVMFFIList) {
      bool is_python_list = value.type_index == kTVMFFIOpaquePyObject && is_list(source);
      if (!is_python_list && (flags & cast_flags::convert) == 0) return false;
      if (!is_object(value)) return false;
      kept_ = ask_python("items", handle(value));
      from = &kept_.any();
      if (from->type_index != kTVMFFIArray) return false;
    }
    const auto *cell = reinterpret_cast<const TVMFFISeqCell *>(from->v_obj + 1);
    begin_ = static_cast<const TVMFFIAny *>(cell->data);
    size_ = static_cast<size_t>(cell->size);
    return true;
  }
  size_t size() const { return size_; }
  const TVMFFIAny &operator[](size_t i) const { return begin_[i]; }

private:
  object kept_;
  const TVMFFIAny *begin_ = nullptr;
  size_t size_ = 0;
};

/** A tuple, list, set or dict of Python, made of owned values; for a dict, key and value in turn. */
inline object python_container(const char *kind, const std::vector<object> &items) {
  object name = str_of(kind);
  std::vector<TVMFFIAny> args;
  args.reserve(items.size() + 1);
  args.push_back(name.any());
  for (const object &item : items) args.push_back(item.any());
  return ask_package(args.data(), args.size());
}

/** The item of a container that a function returns: moved out of a container that is a temporary. */
template <typename Container, typename Item> decltype(auto) forward_item(Item &item) {
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

/** Whether a reader of a container may have items of type T: not references to the members of a caster. */
template <typename T> constexpr void check_item() {
  static_assert(!std::is_pointer_v<T> || std::is_base_of_v<class_caster_tag, make_caster<T>> ||
                    std::is_same_v<intrinsic_t<T>, char> || std::is_void_v<intrinsic_t<T>>,
                "a container of pointers can only point at objects of bound classes");
}

/** Reads one item of a container and passes it to `add`. */
template <typename T, typename Add>
bool read_item(handle source, uint32_t flags, cleanup_list *cleanup, const Add &add) {
  check_item<T>();
  make_caster<T> item;
  if (!read_inner<T>(&item, source, flags, cleanup)) return false;
  add(item.operator cast_t<T>());
  return true;
}

/** Containers that are read from any sequence, item by item. Derived has `static void add(C *, T &&)`. */
template <typename Derived, typename C, typename T> struct sequence_caster {
  static constexpr bool takes_python = takes_python_v<T>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      C &value = static_cast<Derived *>(this)->value;
      value.clear();
      sequence items;
      if (!items.read(source, flags)) return false;
      if constexpr (std::is_same_v<decltype(has_reserve(&value)), std::true_type>) value.reserve(items.size());
      for (size_t i = 0; i < items.size(); ++i) {
        bool fits = read_item<T>(handle(items[i]), flags, cleanup,
                                 [&](auto &&item) { Derived::add(&value, std::forward<decltype(item)>(item)); });
        if (!fits) return false;
      }
      return true;
    } catch (...) {
      (void)translate_exception();
      python_error dropped;
      return false;
    }
  }
  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&value, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] {
      std::vector<object> items;
      for (auto &&item : value) {
        items.push_back(checked(make_caster<T>::from_cpp(forward_item<U>(item), item_policy(policy), cleanup)));
      }
      return python_container(Derived::kKind, items);
    });
  }

private:
  template <typename U> static auto has_reserve(U *value) -> decltype(value->reserve(1), std::true_type());
  static std::false_type has_reserve(...);
};

/** Containers that become lists. */
template <typename C, typename T> struct list_caster : sequence_caster<list_caster<C, T>, C, T> {
  FFI_HPY_TYPE_CASTER(C, io_name("collections.abc.Sequence", "list") + const_name("[") + make_caster<T>::Name +
                             const_name("]"));
  using sequence_caster<list_caster, C, T>::from_cpp;
  static constexpr const char *kKind = "list";
  template <typename Item> static void add(C *to, Item &&item) { to->push_back(std::forward<Item>(item)); }
};

/** Containers that become sets. */
template <typename C, typename T> struct set_caster : sequence_caster<set_caster<C, T>, C, T> {
  FFI_HPY_TYPE_CASTER(C,
                      io_name("collections.abc.Set", "set") + const_name("[") + make_caster<T>::Name + const_name("]"));
  using sequence_caster<set_caster, C, T>::from_cpp;
  static constexpr const char *kKind = "set";
  template <typename Item> static void add(C *to, Item &&item) { to->insert(std::forward<Item>(item)); }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_DETAIL_H_ */
