/* types.h - the built-in classes of Python in C++: str, list, dict, callable and others. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_TYPES_H_
#define FFI_HPY_BIND_TYPES_H_

#include <ffi_hpy/bind/accessor.h>
#include <ffi_hpy/bind/instance.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The next item of an iterator, or the result of another operation on it; an empty handle at its end. */
FFI_HPY_NOINLINE inline object next_of(handle iterator, operation what = kFfiHpyRunNext) {
  static const char end = 0;
  TVMFFIAny at_end = word(kTVMFFIOpaquePtr, 0);
  at_end.v_ptr = const_cast<char *>(&end);
  object found = ask_python(what, iterator, handle(at_end));
  return found.any().type_index == kTVMFFIOpaquePtr && found.any().v_ptr == at_end.v_ptr ? object() : found;
}
inline bool is_text(handle value, int32_t small, int32_t large, const char *name) {
  int32_t index = value.any().type_index;
  return index == small || index == large || (index == kTVMFFIOpaquePyObject && is_kind(name, value));
}
inline int64_t int_of(const object &value) { return value.any().v_int64; }
/** An attribute or an item as a T: the value itself, if it is a T, or else the T that Python makes of the value. */
template <typename T> object value_or_made(const accessor &value, const char *operation) {
  const object &found = value.get();
  return T::check_(found) ? found : ask_python(operation, found);
}

/* weak_callback.h */
template <typename Object> object weakref_with(handle value, const Object &callback);

} // namespace detail

/** Members of a class of values of Python. `test` is an expression about `value`. */
#define FFI_HPY_OBJECT(Type, Parent, text, test)                                                                       \
public:                                                                                                                \
  static constexpr auto Name = ::FFI_HPY_BIND_NAMESPACE::detail::const_name(text);                                     \
  Type(::FFI_HPY_BIND_NAMESPACE::handle value, ::FFI_HPY_BIND_NAMESPACE::detail::borrow_t how) : Parent(value, how) {} \
  Type(::FFI_HPY_BIND_NAMESPACE::handle value, ::FFI_HPY_BIND_NAMESPACE::detail::steal_t how) : Parent(value, how) {}  \
  static bool check_(::FFI_HPY_BIND_NAMESPACE::handle value) { return test; }
/** As FFI_HPY_OBJECT, for a class whose variables refer to nothing until the program sets them. */
#define FFI_HPY_OBJECT_DEFAULT(Type, Parent, text, test) \
  FFI_HPY_OBJECT(Type, Parent, text, test)               \
  Type() = default;

class none : public object {
  FFI_HPY_OBJECT(none, object, "None", value.is_none())
  none() : object(handle(detail::none_value()), detail::steal_t{}) {}
};

class bool_ : public object {
  FFI_HPY_OBJECT_DEFAULT(bool_, object, "bool", value.any().type_index == kTVMFFIBool)
  explicit bool_(bool value) : object(handle(detail::word(kTVMFFIBool, value)), detail::steal_t{}) {}
  explicit bool_(handle value) : object(detail::ask_python(kFfiHpyRunBool, value)) {}
  explicit bool_(const accessor &value) : object(detail::value_or_made<bool_>(value, "bool")) {}
  explicit operator bool() const { return any_.v_int64 != 0; }
};

class int_ : public object {
  FFI_HPY_OBJECT_DEFAULT(int_, object, "int",
                         value.any().type_index == kTVMFFIInt || value.any().type_index == kTVMFFIBigInt ||
                             value.any().type_index == kTVMFFIBool || detail::is_kind("int", value))
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  explicit int_(T value)
      : object(detail::type_caster<std::conditional_t<detail::is_std_char_v<T>, int, T>>::from_cpp(
                   value, rv_policy::copy, nullptr),
               detail::steal_t{}) {}
  explicit int_(double value) : object(detail::ask_python("int", cast(value))) {}
  explicit int_(handle value) : object(detail::ask_python("int", value)) {}
  explicit int_(const accessor &value) : object(detail::value_or_made<int_>(value, "int")) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> explicit operator T() const {
    detail::type_caster<T> caster;
    if (!caster.from_python(*this, detail::cast_flags::convert, nullptr)) throw std::out_of_range("conversion failed");
    return caster.value;
  }
};

class float_ : public object {
  FFI_HPY_OBJECT_DEFAULT(float_, object, "float",
                         value.any().type_index == kTVMFFIFloat || detail::is_kind("float", value))
  explicit float_(double value) : object(cast(value)) {}
  explicit float_(handle value) : object(detail::ask_python("float", value)) {}
  explicit float_(const accessor &value) : object(detail::value_or_made<float_>(value, "float")) {}
  explicit operator double() const { return cast<double>(*this); }
  explicit operator float() const { return static_cast<float>(cast<double>(*this)); }
};

/** A str. c_str() is valid while the object is. */
class str : public object {
  FFI_HPY_OBJECT_DEFAULT(str, object, "str", detail::is_text(value, kTVMFFISmallStr, kTVMFFIStr, "str"))
  explicit str(handle value) : object(detail::ask_python(kFfiHpyRunStr, value)) {}
  explicit str(const accessor &value) : object(detail::value_or_made<str>(value, "str")) {}
  explicit str(const char *value) : object(detail::str_of(value)) {}
  str(const char *value, size_t n) : object(detail::str_of(std::string_view(value, n))) {}
  const char *c_str() const {
    std::string_view text;
    (void)detail::read_text(any_, false, &text);
    return text.data();
  }
  template <typename... Args> str format(Args &&...args) const {
    return str(attr("format")(std::forward<Args>(args)...));
  }
};

namespace literals {
inline str operator""_s(const char *text, size_t n) { return str(text, n); }
} // namespace literals

class bytes : public object {
  FFI_HPY_OBJECT_DEFAULT(bytes, object, "bytes", detail::is_text(value, kTVMFFISmallBytes, kTVMFFIBytes, "bytes"))
  explicit bytes(handle value) : object(detail::ask_python("bytes", value)) {}
  explicit bytes(const accessor &value) : object(detail::value_or_made<bytes>(value, "bytes")) {}
  explicit bytes(const char *value) : bytes(value, std::strlen(value)) {}
  /** A copy of memory; zero bytes for a null pointer, which the caller fills in before other code has the object. */
  bytes(const void *value, size_t n) {
    std::string_view data(static_cast<const char *>(value), n);
    any_ = (value != nullptr ? detail::bytes_object(data) : detail::bytes_object(std::string(n, '\0'))).release().any();
  }
  const char *c_str() const { return view().data(); }
  const void *data() const { return view().data(); }
  size_t size() const { return view().size(); }

private:
  std::string_view view() const {
    std::string_view text;
    (void)detail::read_text(any_, true, &text);
    return text;
  }
};

/** The functions of all containers. */
#define FFI_HPY_SIZED                                                                                              \
  size_t size() const { return static_cast<size_t>(detail::int_of(detail::ask_python(kFfiHpyRunLength, *this))); } \
  bool empty() const { return size() == 0; }

class bytearray : public object {
  FFI_HPY_OBJECT(bytearray, object, "bytearray", detail::is_kind("bytearray", value))
  bytearray() : object(detail::ask_python("bytearray")) {}
  explicit bytearray(handle value) : object(detail::ask_python("bytearray", value)) {}
  explicit bytearray(const accessor &value) : object(detail::value_or_made<bytearray>(value, "bytearray")) {}
  bytearray(const void *value, size_t n) : object(detail::ask_python("bytearray", bytes(value, n))) {}
  FFI_HPY_SIZED
  /** The memory, valid until the size changes. */
  const char *c_str() const { return static_cast<const char *>(data()); }
  void *data() const {
    return reinterpret_cast<void *>(static_cast<intptr_t>(detail::int_of(detail::ask_python("bytearray_data", *this))));
  }
  void resize(size_t n) { detail::ask_python("bytearray_resize", *this, detail::int_value(static_cast<int64_t>(n))); }
};

class tuple : public object {
  FFI_HPY_OBJECT(tuple, object, "tuple", detail::is_kind("tuple", value))
  tuple() : object(detail::ask_python(kFfiHpyRunTuple)) {}
  explicit tuple(handle value) : object(detail::ask_python("tuple_of", value)) {}
  explicit tuple(const accessor &value) : object(detail::value_or_made<tuple>(value, "tuple_of")) {}
  FFI_HPY_SIZED
  iterator begin() const;
  iterator end() const;
};

class list : public object {
  FFI_HPY_OBJECT(list, object, "list", detail::is_kind("list", value))
  list() : object(detail::ask_python(kFfiHpyRunList)) {}
  explicit list(handle value) : object(detail::ask_python("list_of", value)) {}
  explicit list(const accessor &value) : object(detail::value_or_made<list>(value, "list_of")) {}
  FFI_HPY_SIZED
  iterator begin() const;
  iterator end() const;
  template <typename T> void append(T &&value) {
    detail::ask_python(kFfiHpyRunAppend, *this, cast(std::forward<T>(value)));
  }
  template <typename T> void insert(int64_t at, T &&value) { attr("insert")(at, std::forward<T>(value)); }
  void clear() { attr("clear")(); }
  void extend(handle values) { attr("extend")(values); }
  void sort() { attr("sort")(); }
  void reverse() { attr("reverse")(); }
};

class dict : public object {
  FFI_HPY_OBJECT(dict, object, "dict", detail::is_kind("dict", value))
  dict() : object(detail::ask_python(kFfiHpyRunDict)) {}
  explicit dict(handle value) : object(detail::ask_python("dict_of", value)) {}
  explicit dict(const accessor &value) : object(detail::value_or_made<dict>(value, "dict_of")) {}
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python(kFfiHpyRunContains, *this, cast(std::forward<T>(key)))) != 0;
  }
  /** The pairs of keys and values. */
  class pairs;
  pairs begin() const;
  pairs end() const;
  list keys() const { return list(attr("keys")()); }
  list values() const { return list(attr("values")()); }
  list items() const { return list(attr("items")()); }
  object get(handle key, handle otherwise) const { return attr("get")(key, otherwise); }
  object get(const char *key, handle otherwise) const { return attr("get")(key, otherwise); }
  void update(handle other) { attr("update")(other); }
  void clear() { attr("clear")(); }
};

class set : public object {
  FFI_HPY_OBJECT(set, object, "set", detail::is_kind("set", value))
  set() : object(detail::ask_python("set")) {}
  explicit set(handle value) : object(detail::ask_python("set_of", value)) {}
  explicit set(const accessor &value) : object(detail::value_or_made<set>(value, "set_of")) {}
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python(kFfiHpyRunContains, *this, cast(std::forward<T>(key)))) != 0;
  }
  template <typename T> void add(T &&value) { attr("add")(std::forward<T>(value)); }
  template <typename T> bool discard(T &&value) {
    bool was_there = contains(value);
    attr("discard")(std::forward<T>(value));
    return was_there;
  }
  void clear() { attr("clear")(); }
};

class frozenset : public object {
  FFI_HPY_OBJECT(frozenset, object, "frozenset", detail::is_kind("frozenset", value))
  frozenset() : object(detail::ask_python("frozenset")) {}
  explicit frozenset(handle value) : object(detail::ask_python("frozenset", value)) {}
  explicit frozenset(const accessor &value) : object(detail::value_or_made<frozenset>(value, "frozenset")) {}
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python(kFfiHpyRunContains, *this, cast(std::forward<T>(key)))) != 0;
  }
};

/** A list or tuple or another object with items by number. */
class sequence : public object {
  FFI_HPY_OBJECT_DEFAULT(sequence, object, "collections.abc.Sequence", detail::is_kind("sequence", value))
};
class mapping : public object {
  FFI_HPY_OBJECT_DEFAULT(mapping, object, "collections.abc.Mapping", detail::is_kind("mapping", value))
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python(kFfiHpyRunContains, *this, cast(std::forward<T>(key)))) != 0;
  }
  list keys() const { return list(attr("keys")()); }
  list values() const { return list(attr("values")()); }
  list items() const { return list(attr("items")()); }
};

/** The parameter `*args` of a function. */
class args : public tuple {
  FFI_HPY_OBJECT_DEFAULT(args, tuple, "tuple", tuple::check_(value)) /* an empty one */
};
/** The parameter `**kwargs` of a function. */
class kwargs : public dict {
  FFI_HPY_OBJECT_DEFAULT(kwargs, dict, "dict", dict::check_(value))
};

class iterable : public object {
  FFI_HPY_OBJECT_DEFAULT(iterable, object, "collections.abc.Iterable", detail::is_kind("iterable", value))
};
class callable : public object {
  FFI_HPY_OBJECT_DEFAULT(callable, object, "collections.abc.Callable",
                         value.any().type_index == kTVMFFIFunction || detail::is_kind("callable", value))
};
class memoryview : public object {
  FFI_HPY_OBJECT(memoryview, object, "memoryview", detail::is_kind("memoryview", value))
  explicit memoryview(handle value) : object(detail::ask_python("memoryview", value)) {}
  explicit memoryview(const accessor &value) : object(detail::value_or_made<memoryview>(value, "memoryview")) {}
};
class ellipsis : public object {
  FFI_HPY_OBJECT(ellipsis, object, "types.EllipsisType", detail::is_kind("ellipsis", value))
  ellipsis() : object(detail::ask_python("constant", detail::str_of("Ellipsis"))) {}
};
class not_implemented : public object {
  FFI_HPY_OBJECT(not_implemented, object, "types.NotImplementedType", detail::is_kind("not_implemented", value))
  not_implemented() : object(detail::ask_python("constant", detail::str_of("NotImplemented"))) {}
};
class weakref : public object {
  FFI_HPY_OBJECT(weakref, object, "weakref.ReferenceType", detail::is_kind("weakref", value))
  explicit weakref(handle value) : object(detail::ask_python("weakref", value)) {}
  explicit weakref(const accessor &value) : object(detail::value_or_made<weakref>(value, "weakref")) {}
  /** Calls the callback when the value ends. A function of C++ gets this object, if it still exists. */
  template <typename Callback, std::enable_if_t<std::is_base_of_v<detail::api_tag, Callback>, int> = 0>
  weakref(handle value, const Callback &callback)
      : object(detail::weakref_with(value, borrow(static_cast<handle>(callback)))) {}
};
/** Any object, which a signature calls typing.Any. */
class any : public object {
  FFI_HPY_OBJECT_DEFAULT(any, object, "typing.Any", value.is_valid())
};
/** An argument of any class, for an overload that a call tries after all others. */
struct fallback : public handle {
  static constexpr auto Name = detail::const_name("object");
  fallback() = default;
  fallback(handle value) : handle(value) {}
};

class slice : public object {
  FFI_HPY_OBJECT_DEFAULT(slice, object, "slice", detail::is_kind("slice", value))
  slice(handle start, handle stop, handle step) : object(detail::ask_python("slice", start, stop, step)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit slice(T stop) : slice(none(), int_(stop), none()) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  slice(T start, T stop) : slice(int_(start), int_(stop), none()) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  slice(T start, T stop, T step) : slice(int_(start), int_(stop), int_(step)) {}

  /** Start, stop, step and length of the slice of `size` items: `auto [start, stop, step, length]`. */
  struct range {
    int64_t values[4];
    template <size_t I> auto get() const {
      if constexpr (I == 3) {
        return static_cast<size_t>(values[I]);
      } else {
        return values[I];
      }
    }
  };
  range compute(size_t size) const {
    object found = detail::ask_python(kFfiHpyRunSliceRange, *this, detail::int_value(static_cast<int64_t>(size)));
    range made;
    for (int i = 0; i < 4; ++i) {
      const TVMFFIAny &number = detail::items_in(found)[i];
      if (number.type_index != kTVMFFIInt) throw cast_error();
      made.values[i] = number.v_int64;
    }
    return made;
  }
};

class module_ : public object {
  FFI_HPY_OBJECT(module_, object, "types.ModuleType", detail::is_kind("module", value))
  /** Imports a module of Python. */
  static module_ import_(const char *name) { return import_(detail::str_of(name)); }
  static module_ import_(handle name) { return steal<module_>(detail::ask_python("import", name).release()); }
  /** Makes a module inside of this one. */
  module_ def_submodule(const char *name, const char *doc = nullptr) {
    object text = detail::str_of(doc != nullptr ? doc : "");
    return steal<module_>(detail::ask_python("submodule", *this, detail::str_of(name), text).release());
  }
  /** Sets a function. Further arguments: documentation, the names and defaults of parameters, rv_policy, call_guard. */
  template <typename F, typename... Extra> module_ &def(const char *name, F &&f, const Extra &...extra);
};

class type_object : public object {
  FFI_HPY_OBJECT_DEFAULT(type_object, object, "type", detail::is_kind("type", value))
};

/** An iterator of Python; in C++ an input iterator. */
class iterator : public object {
  FFI_HPY_OBJECT_DEFAULT(iterator, object, "collections.abc.Iterator", detail::is_kind("iterator", value))
  using iterator_category = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = object;
  using reference = handle;
  using pointer = const handle *;

  /** The end of every iterator. */
  static iterator sentinel() { return iterator(handle(), detail::steal_t{}); }
  iterator &operator++() {
    next();
    return *this;
  }
  iterator operator++(int) {
    iterator before = *this;
    next();
    return before;
  }
  handle operator*() const {
    fetch();
    return value_;
  }
  pointer operator->() const {
    fetch();
    return &value_;
  }
  friend bool operator==(const iterator &a, const iterator &b) {
    a.fetch();
    b.fetch();
    if (!a.value_.is_valid() || !b.value_.is_valid()) return a.value_.is_valid() == b.value_.is_valid();
    return a.value_.is(b.value_);
  }
  friend bool operator!=(const iterator &a, const iterator &b) { return !(a == b); }

private:
  friend class tuple;
  friend class list;
  /** An iterator that has the first item. Without it, the first `++` of an iterator gets the first item. */
  static iterator at_first(const object &all) {
    iterator made = all.begin();
    made.fetch();
    return made;
  }
  void fetch() const {
    if (is_fetched_ || !is_valid()) return;
    next();
  }
  void next() const {
    value_ = detail::next_of(*this);
    is_fetched_ = true;
  }
  mutable object value_;
  mutable bool is_fetched_ = false;
};

namespace detail {
template <typename D> iterator object_api<D>::begin() const {
  return steal<iterator>(ask_python(kFfiHpyRunIter, self()).release());
}
template <typename D> iterator object_api<D>::end() const { return iterator::sentinel(); }
} // namespace detail

inline iterator tuple::begin() const { return iterator::at_first(*this); }
inline iterator tuple::end() const { return iterator::sentinel(); }
inline iterator list::begin() const { return iterator::at_first(*this); }
inline iterator list::end() const { return iterator::sentinel(); }

class dict::pairs {
public:
  /** The end. */
  pairs() = default;
  explicit pairs(const handle &all) : all_(all.attr("items")().begin()) { ++*this; }
  std::pair<object, object> operator*() const {
    const TVMFFIAny *both = detail::items_in(pair_);
    return {borrow(handle(both[0])), borrow(handle(both[1]))};
  }
  pairs &operator++() {
    pair_ = detail::next_of(all_, kFfiHpyRunNextPair);
    return *this;
  }
  friend bool operator==(const pairs &a, const pairs &b) { return a.pair_.is_valid() == b.pair_.is_valid(); }
  friend bool operator!=(const pairs &a, const pairs &b) { return !(a == b); }

private:
  iterator all_;
  object pair_; /* an Array, empty at the end */
};
inline dict::pairs dict::begin() const { return pairs(*this); }
inline dict::pairs dict::end() const { return pairs(); }

/** A pointer with a function that is called when the last reference is released. A null pointer makes None. */
class capsule : public object {
  FFI_HPY_OBJECT_DEFAULT(capsule, object, "typing_extensions.CapsuleType", detail::is_kind("capsule", value))
  capsule(const void *value, const char *name, void (*cleanup)(void *) noexcept = nullptr)
      : object(value == nullptr ? none()
                                : detail::ask_python(kFfiHpyRunCapsule, detail::address_value(value), name_value(name),
                                                     detail::address_value(reinterpret_cast<const void *>(cleanup)))) {}
  explicit capsule(const void *value, void (*cleanup)(void *) noexcept = nullptr) : capsule(value, nullptr, cleanup) {}
  void *data() const { return is_none() ? nullptr : cast<void *>(detail::ask_python(kFfiHpyRunCapsuleData, *this)); }
  /** The address. ValueError if the capsule has another name. */
  void *data(const char *name) const {
    return is_none() ? nullptr : cast<void *>(detail::ask_python(kFfiHpyRunCapsuleData, *this, name_value(name)));
  }
  /** The name, valid while this object is; null for a capsule without one. */
  const char *name() const {
    if (!is_none()) name_ = detail::ask_python("capsule_name", *this);
    if (!name_.is_valid() || name_.is_none()) return nullptr;
    std::string_view text;
    (void)detail::read_text(name_.any(), false, &text);
    return text.data();
  }

private:
  static object name_value(const char *name) { return name != nullptr ? detail::str_of(name) : none(); }
  mutable object name_;
};

/** A handle whose value is an object of a bound class. */
template <typename T> class handle_t : public handle {
public:
  static constexpr auto Name = detail::make_caster<T>::Name;
  handle_t() = default;
  handle_t(handle value, detail::borrow_t) : handle(value) {}
  handle_t(handle value) : handle(value) {}
  static bool check_(handle value);
};
/** A class of Python that is T's, or derives from it. */
template <typename T> class type_object_t : public type_object {
public:
  static constexpr auto Name = detail::const_name("type[") + detail::make_caster<T>::Name + detail::const_name("]");
  type_object_t() = default;
  type_object_t(handle value, detail::borrow_t how) : type_object(value, how) {}
  type_object_t(handle value, detail::steal_t how) : type_object(value, how) {}
  static bool check_(handle value);
};
/** A T whose signature names its items: typed<list, int> is `list[int]`. */
template <typename T, typename...> class typed : public T {
public:
  using T::T;
  typed() = default;
  typed(const T &value) : T(value) {}
  typed(T &&value) : T(std::move(value)) {}
};
/** An argument as C++ and as Python see it. */
template <typename T> struct pointer_and_handle {
  T *p;
  handle h;
};

#undef FFI_HPY_SIZED

FFI_HPY_NAMESPACE_END

template <> struct std::tuple_size<FFI_HPY_BIND_NAMESPACE::slice::range> : std::integral_constant<size_t, 4> {};
template <size_t I> struct std::tuple_element<I, FFI_HPY_BIND_NAMESPACE::slice::range> {
  using type = decltype(std::declval<FFI_HPY_BIND_NAMESPACE::slice::range>().template get<I>());
};

#endif /* FFI_HPY_BIND_TYPES_H_ */
