/* detail.h - shared by the casters of the standard library's containers. */
#ifndef FFI_HPY_STL_DETAIL_H_
#define FFI_HPY_STL_DETAIL_H_

#include <ffi_hpy/bind/function.h>

#include <vector>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The items of a sequence or of a mapping of Python: borrowed from an argument, or a copy. */
class sequence {
public:
  /** False if the value is not a sequence. With the flag `convert`, sets and other iterables are accepted.
   * `as_python`: the items are objects of Python themselves. */
  FFI_HPY_NOINLINE bool read(handle source, uint32_t flags, bool as_python) {
    if (source.any().type_index == kTVMFFIArray) return view(source);
    if (source.any().type_index != kTVMFFIOpaquePyObject) return keep(source, flags & cast_flags::convert);
    const char *exact = as_python ? "sequence" : "sequence_of_objects"; /* the items of an array are converted */
    if ((flags & cast_flags::convert) == 0 && !is_kind(exact, source)) return false;
    return as_python ? ask(source, "items") : keep(source, kFfiHpyCastConvert);
  }
  /** As read(), and also the characters of a text, the numbers of bytes, and the keys of a mapping. */
  FFI_HPY_NOINLINE bool read_iterable(handle source, bool as_python) {
    if (read(source, cast_flags::convert, as_python)) return true;
    int32_t kind = source.any().type_index;
    bool may_be_iterable = is_object(source.any()) || kind == kTVMFFISmallStr || kind == kTVMFFISmallBytes;
    return may_be_iterable && ask(source, "items_of_iterable");
  }
  /** The keys and values of a mapping, in turn. False if the value is not a mapping. */
  bool read_pairs(handle source, bool as_python) {
    if (as_python && source.any().type_index == kTVMFFIOpaquePyObject) return ask(source, "pairs");
    return keep(source, FFI_HPY_PAIRS);
  }
  size_t size() const { return size_; }
  /** Lets the items live until the function returns, if a T refers to texts in them. */
  template <typename... T> bool outlive([[maybe_unused]] cleanup_list *cleanup) {
    if constexpr ((views_text_v<T> || ...)) {
      if (kept_.is_valid() && cleanup == nullptr) return false;
      if (kept_.is_valid()) cleanup->append(kept_.inc_ref());
    }
    return true;
  }
  const handle &operator[](size_t i) const { return reinterpret_cast<const handle &>(begin_[i]); }

private:
  bool view(handle source) {
    begin_ = items_in(source);
    size_ = static_cast<size_t>(cell_of(source.any().v_obj)->size);
    return true;
  }
  FFI_HPY_NOINLINE bool keep(handle source, uint32_t flags) {
    TVMFFIAny items = none_value();
    check(api->container_items(&source.any(), flags, &items));
    kept_ = take(items);
    return !kept_.is_none() && view(kept_);
  }
  FFI_HPY_NOINLINE bool ask(handle source, const char *operation) {
    kept_ = ask_python(operation, source);
    return kept_.any().type_index == kTVMFFIArray && view(kept_);
  }

  object kept_;
  const TVMFFIAny *begin_ = nullptr;
  size_t size_ = 0;
};

/** A tuple, list, set or dict of n items; for a dict, key and value in turn. With `python` the container is Python's
 * own; with NULL it is a native object, which Python converts. The caller fills the memory of the items up to `end`,
 * and calls finish() or fail(). No member throws, and the caller's pointer is in a register: that makes the callers
 * short. */
class python_container {
public:
  python_container(python_values python, uint32_t kind, size_t n) noexcept
      : python_(python), kind_(kind), begin_(few_) {
    if (python == nullptr || n > kFew) allocate(n);
  }
  python_container(const python_container &) = delete;
  python_container &operator=(const python_container &) = delete;

  /** The memory of the items, each a new reference; null with a pending error if there is none. */
  TVMFFIAny *begin() const { return begin_; }
  /** The container, a new reference; an empty handle with a pending error if it could not be made. */
  FFI_HPY_NOINLINE handle finish(const TVMFFIAny *end) noexcept {
    size_t n = static_cast<size_t>(end - begin_);
    if (python_ == nullptr) {
      cell_of(object_)->size = static_cast<int64_t>(n);
      return handle(view_of(object_));
    }
    TVMFFIAny made = none_value();
    int rc = python_->new_container(kind_, begin_, n, &made);
    if (begin_ != few_) delete[] begin_;
    return rc == 0 ? handle(made) : handle();
  }
  /** Drops the items after the failure of the next one, whose error is pending. Returns an empty handle. Items may run
   * code of Python when they end, so the error is not pending then. */
  FFI_HPY_COLD handle fail(const TVMFFIAny *end) noexcept {
    python_error error;
    if (python_ == nullptr) {
      finish(end).dec_ref();
    } else {
      if (end != begin_) python_->drop(begin_, static_cast<size_t>(end - begin_));
      if (begin_ != few_) delete[] begin_;
    }
    error.restore();
    return handle();
  }

private:
  enum : size_t { kFew = 32 }; /* items of a dict of 16 entries */
  FFI_HPY_NOINLINE void allocate(size_t n) noexcept {
    begin_ = nullptr;
    (void)guarded([&] {
      if (python_ != nullptr) {
        begin_ = new TVMFFIAny[n];
      } else {
        TVMFFIObjectHandle made = nullptr;
        check(api->container_new(kind_, n, &made));
        object_ = static_cast<TVMFFIObject *>(made);
        begin_ = n == 0 ? few_ : static_cast<TVMFFIAny *>(cell_of(object_)->data);
      }
      return object();
    });
  }

  python_values python_;
  uint32_t kind_;
  TVMFFIObject *object_; /* of native containers; its size is set at the end */
  TVMFFIAny *begin_;
  TVMFFIAny few_[kFew];
};

/** Makes room in containers that have reserve(). */
template <typename C> auto reserve(C *container, size_t n) -> decltype(container->reserve(n)) { container->reserve(n); }
inline void reserve(void *, size_t) {}

/** The item of a container that a function returns: moved out of a container that is a temporary. */
template <typename Container, typename Item> decltype(auto) forward_item(Item &item) {
  if constexpr (std::is_lvalue_reference_v<Container>) {
    return item;
  } else {
    return std::move(item);
  }
}

/** The maker of the items of a container. An allocation may run Python code, such as a finalizer, and that code may
 * change a container that the function returns by reference. So containers inside are native objects until the last
 * item has been read. Texts allocate no memory that a collector of garbage tracks. */
template <typename Container, typename T> constexpr python_values maker_of(python_values python) {
  constexpr bool may_change =
      std::is_lvalue_reference_v<Container> && !std::is_convertible_v<const T &, std::string_view>;
  return may_change ? nullptr : python;
}

/** The policy for items: the items of a returned container are copied or moved, unless the author sets another
 * policy. */
inline rv_policy item_policy(rv_policy policy) {
  return policy == rv_policy::take_ownership ? rv_policy::automatic : policy;
}

/** Whether a reader of a container may have items of type T: not references to the members of a caster. */
template <typename T> constexpr void check_item() {
  static_assert(!std::is_pointer_v<T> || is_base_caster_v<make_caster<T>> || std::is_same_v<intrinsic_t<T>, char> ||
                    std::is_void_v<intrinsic_t<T>>,
                "a container of pointers can only point at objects of bound classes");
}

/** Reads one item of a container and passes it to `add`. */
template <typename T, typename Add>
bool read_item(const handle &source, uint32_t flags, cleanup_list *cleanup, const Add &add) {
  check_item<T>();
  make_caster<T> item;
  if (!read_inner<T>(&item, source, flags, cleanup)) return false;
  add(item.operator cast_t<T>());
  return true;
}

FFI_HPY_COLD inline void add_index(std::string *place, size_t i) { *place += joined({"[", std::to_string(i), "]"}); }
/** Finds the first item of a sequence that does not fit. `explain`: explain_inner for the type of the items. */
FFI_HPY_COLD inline bool explain_items(const sequence &items, uint32_t flags, mismatch *found,
                                       bool (*explain)(const handle &, uint32_t, mismatch *)) {
  size_t n = found->place.size();
  for (size_t i = 0; i < items.size(); ++i) {
    add_index(&found->place, i);
    if (explain(items[i], flags, found)) return found->in_item(i);
    found->place.resize(n);
  }
  return false;
}
FFI_HPY_COLD inline bool explain_size(size_t size, size_t expected, mismatch *found) {
  if (size == expected) return false;
  found->place += joined({" has ", std::to_string(size), " items instead of ", std::to_string(expected)});
  return true;
}

/** Fills a vector of numbers with the items at the front that are such numbers themselves. Returns how many there
 * are. */
template <
    typename T, typename... Rest,
    std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && loads_in_place_v<make_caster<T>>, int> = 0>
size_t read_numbers(std::vector<T, Rest...> *to, const sequence &items, uint32_t flags) {
  constexpr int32_t kind = std::is_integral_v<T> ? kTVMFFIInt : kTVMFFIFloat;
  make_caster<T> number;
  size_t i = 0, n = items.size();
  *to = std::vector<T, Rest...>(n, to->get_allocator()); /* shorter than resize() of an empty one */
  T *out = to->data();
  for (; i < n; ++i) {
    const TVMFFIAny &item = items[i].any();
    if (item.type_index != kind || !number.load(&item, flags, nullptr)) break;
    out[i] = number.value;
  }
  if (i != n) to->resize(i);
  return i;
}
inline size_t read_numbers(void *, const sequence &, uint32_t) { return 0; }

/** Containers that are read from a value with items, item by item. Derived has `static void add(C *, T &&)`, and
 * `static bool read(sequence *items, handle source, uint32_t flags)`. */
template <typename Derived, typename C, typename T> struct sequence_caster {
  static constexpr bool takes_python = takes_python_v<T>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      C &value = static_cast<Derived *>(this)->value;
      value.clear();
      sequence items;
      if (!Derived::read(&items, source, flags) || !items.template outlive<T>(cleanup)) return false;
      size_t i = read_numbers(&value, items, flags);
      if (i != items.size()) reserve(&value, items.size());
      for (; i < items.size(); ++i) {
        bool fits = read_item<T>(items[i], flags, cleanup,
                                 [&](auto &&item) { Derived::add(&value, std::forward<decltype(item)>(item)); });
        if (!fits) return false;
      }
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    sequence items;
    return Derived::read(&items, source, flags) && explain_items(items, flags, found, explain_inner<T>);
  }
  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&value, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make(std::forward<U>(value), policy, cleanup, nullptr);
  }
  template <typename U>
  static handle make(U &&value, rv_policy policy, cleanup_list *cleanup, python_values python) noexcept {
    python_container made(python, Derived::kKind, value.size());
    TVMFFIAny *next = made.begin();
    if (next == nullptr) return handle();
    for (auto &&each : value) {
      handle item = make_value<T>(forward_item<U>(each), item_policy(policy), cleanup, maker_of<U, T>(python));
      if (!item.is_valid()) return made.fail(next);
      *next++ = item.any();
    }
    return made.finish(next);
  }
};

/** Containers that become lists. */
template <typename C, typename T> struct list_caster : sequence_caster<list_caster<C, T>, C, T> {
  FFI_HPY_TYPE_CASTER(C, io_name("collections.abc.Sequence", "list") + const_name("[") + make_caster<T>::Name +
                             const_name("]"));
  using sequence_caster<list_caster, C, T>::from_cpp;
  static constexpr uint32_t kKind = kFfiHpyList;
  static bool read(sequence *items, handle source, uint32_t flags) {
    return items->read(source, flags, takes_python_v<T>);
  }
  template <typename Item> static void add(C *to, Item &&item) { to->push_back(std::forward<Item>(item)); }
};

template <typename C, typename = void> inline constexpr bool is_ordered_v = false;
template <typename C> inline constexpr bool is_ordered_v<C, std::void_t<typename C::key_compare>> = true;

/** Containers that become sets. Every iterable is read; but texts and mappings, which another overload may accept as
 * they are, must be converted. */
template <typename C, typename T> struct set_caster : sequence_caster<set_caster<C, T>, C, T> {
  FFI_HPY_TYPE_CASTER(C,
                      io_name("collections.abc.Set", "set") + const_name("[") + make_caster<T>::Name + const_name("]"));
  using sequence_caster<set_caster, C, T>::from_cpp;
  static constexpr uint32_t kKind = kFfiHpySet;
  static bool read(sequence *items, handle source, uint32_t flags) {
    bool converts = (flags & cast_flags::convert) != 0;
    return converts ? items->read_iterable(source, takes_python_v<T>)
                    : items->read(source, cast_flags::convert, takes_python_v<T>);
  }
  /** No order has a place for a NaN, which equals every item there: an ordered set would lose other items. */
  template <typename Item> static void add(C *to, Item &&item) {
    if constexpr (std::is_floating_point_v<T> && is_ordered_v<C>) {
      size_t before = to->size();
      to->insert(item);
      bool has_nan = item != item || *to->begin() != *to->begin();
      if (has_nan && to->size() == before) throw value_error("nan and another item cannot both be in a set");
    } else {
      to->insert(std::forward<Item>(item));
    }
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_DETAIL_H_ */
