/* types.h - the built-in classes of Python in C++: str, list, dict, callable and others. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_TYPES_H_
#define FFI_HPY_BIND_TYPES_H_

#include <ffi_hpy/bind/accessor.h>
#include <ffi_hpy/bind/instance.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Whether a value is an instance of a class that the package knows by name. */
inline bool is_kind(const char *name, handle value) {
  return value.is_valid() && ask_python("is_kind", str_of(name), value).any().v_int64 != 0;
}
inline bool is_text(handle value, int32_t small, int32_t large) {
  return value.any().type_index == small || value.any().type_index == large;
}
inline int64_t int_of(const object &value) { return value.any().v_int64; }

} // namespace detail

/** Members of a class of values of Python. `test` is an expression about `value`. */
#define FFI_HPY_OBJECT(Type, Parent, text, test)                   \
public:                                                            \
  static constexpr auto Name = detail::const_name(text);           \
  Type(handle value, detail::borrow_t how) : Parent(value, how) {} \
  Type(handle value, detail::steal_t how) : Parent(value, how) {}  \
  static bool check_(handle value) { return test; }

class none : public object {
  FFI_HPY_OBJECT(none, object, "None", value.is_none())
  none() : object(handle(detail::none_value()), detail::steal_t{}) {}
};

class bool_ : public object {
  FFI_HPY_OBJECT(bool_, object, "bool", value.any().type_index == kTVMFFIBool)
  explicit bool_(bool value) : object(handle(detail::word(kTVMFFIBool, value)), detail::steal_t{}) {}
  explicit bool_(handle value) : object(detail::ask_python("bool", value)) {}
  explicit operator bool() const { return any_.v_int64 != 0; }
};

class int_ : public object {
  FFI_HPY_OBJECT(int_, object, "int",
                 value.any().type_index == kTVMFFIInt || value.any().type_index == kTVMFFIBigInt ||
                     value.any().type_index == kTVMFFIBool || detail::is_kind("int", value))
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  explicit int_(T value)
      : object(detail::type_caster<std::conditional_t<detail::is_std_char_v<T>, int, T>>::from_cpp(
                   value, rv_policy::copy, nullptr),
               detail::steal_t{}) {}
  explicit int_(double value) : object(detail::ask_python("int", cast(value))) {}
  explicit int_(handle value) : object(detail::ask_python("int", value)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> explicit operator T() const {
    detail::type_caster<T> caster;
    if (!caster.from_python(*this, detail::cast_flags::convert, nullptr)) throw std::out_of_range("conversion failed");
    return caster.value;
  }
};

class float_ : public object {
  FFI_HPY_OBJECT(float_, object, "float", value.any().type_index == kTVMFFIFloat || detail::is_kind("float", value))
  explicit float_(double value) : object(cast(value)) {}
  explicit float_(handle value) : object(detail::ask_python("float", value)) {}
  explicit operator double() const { return cast<double>(*this); }
  explicit operator float() const { return static_cast<float>(cast<double>(*this)); }
};

/** A str. c_str() is valid while the object is. */
class str : public object {
  FFI_HPY_OBJECT(str, object, "str", detail::is_text(value, kTVMFFISmallStr, kTVMFFIStr))
  str() : str("") {}
  explicit str(handle value) : object(detail::ask_python("str", value)) {}
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
  FFI_HPY_OBJECT(bytes, object, "bytes", detail::is_text(value, kTVMFFISmallBytes, kTVMFFIBytes))
  bytes() : bytes("", 0) {}
  explicit bytes(handle value) : object(detail::ask_python("bytes", value)) {}
  explicit bytes(const char *value) : bytes(value, std::strlen(value)) {}
  bytes(const void *value, size_t n) {
    TVMFFIByteArray view{static_cast<const char *>(value), n};
    any_ = detail::none_value();
    detail::check(detail::api->new_bytes(&view, &any_));
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
#define FFI_HPY_SIZED                                                                                   \
  size_t size() const { return static_cast<size_t>(detail::int_of(detail::ask_python("len", *this))); } \
  bool empty() const { return size() == 0; }

class bytearray : public object {
  FFI_HPY_OBJECT(bytearray, object, "bytearray", detail::is_kind("bytearray", value))
  bytearray() : object(detail::ask_python("bytearray")) {}
  explicit bytearray(handle value) : object(detail::ask_python("bytearray", value)) {}
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
  tuple() : object(detail::ask_python("tuple")) {}
  explicit tuple(handle value) : object(detail::ask_python("tuple_of", value)) {}
  FFI_HPY_SIZED
};

class list : public object {
  FFI_HPY_OBJECT(list, object, "list", detail::is_kind("list", value))
  list() : object(detail::ask_python("list")) {}
  explicit list(handle value) : object(detail::ask_python("list_of", value)) {}
  FFI_HPY_SIZED
  template <typename T> void append(T &&value) { detail::ask_python("append", *this, cast(std::forward<T>(value))); }
  template <typename T> void insert(int64_t at, T &&value) { attr("insert")(at, std::forward<T>(value)); }
  void clear() { attr("clear")(); }
  void extend(handle values) { attr("extend")(values); }
  void sort() { attr("sort")(); }
  void reverse() { attr("reverse")(); }
};

class dict : public object {
  FFI_HPY_OBJECT(dict, object, "dict", detail::is_kind("dict", value))
  dict() : object(detail::ask_python("dict")) {}
  explicit dict(handle value) : object(detail::ask_python("dict_of", value)) {}
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python("contains", *this, cast(std::forward<T>(key)))) != 0;
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
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python("contains", *this, cast(std::forward<T>(key)))) != 0;
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
  FFI_HPY_SIZED
  template <typename T> bool contains(T &&key) const {
    return detail::int_of(detail::ask_python("contains", *this, cast(std::forward<T>(key)))) != 0;
  }
};

/** A list or tuple or another object with items by number. */
class sequence : public object {
  FFI_HPY_OBJECT(sequence, object, "collections.abc.Sequence", detail::is_kind("sequence", value))
};
class mapping : public object {
  FFI_HPY_OBJECT(mapping, object, "collections.abc.Mapping", detail::is_kind("mapping", value))
  list keys() const { return list(attr("keys")()); }
  list values() const { return list(attr("values")()); }
  list items() const { return list(attr("items")()); }
};

/** The parameter `*args` of a function. */
class args : public tuple {
  FFI_HPY_OBJECT(args, tuple, "tuple", tuple::check_(value))
};
/** The parameter `**kwargs` of a function. */
class kwargs : public dict {
  FFI_HPY_OBJECT(kwargs, dict, "dict", dict::check_(value))
};

class iterable : public object {
  FFI_HPY_OBJECT(iterable, object, "collections.abc.Iterable", detail::is_kind("iterable", value))
};
class callable : public object {
  FFI_HPY_OBJECT(callable, object, "collections.abc.Callable",
                 value.any().type_index == kTVMFFIFunction || detail::is_kind("callable", value))
};
class memoryview : public object {
  FFI_HPY_OBJECT(memoryview, object, "memoryview", detail::is_kind("memoryview", value))
  explicit memoryview(handle value) : object(detail::ask_python("memoryview", value)) {}
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
  weakref(handle value, handle callback) : object(detail::ask_python("weakref", value, callback)) {}
};
/** Any object, which a signature calls typing.Any. */
class any : public object {
  FFI_HPY_OBJECT(any, object, "typing.Any", value.is_valid())
};
/** An argument that overloads after the others accept. */
struct fallback : public handle {
  static constexpr auto Name = detail::const_name("object");
  fallback() = default;
  fallback(handle value) : handle(value) {}
};

class slice : public object {
  FFI_HPY_OBJECT(slice, object, "slice", detail::is_kind("slice", value))
  slice(handle start, handle stop, handle step) : object(detail::ask_python("slice", start, stop, step)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit slice(T stop) : slice(none(), int_(stop), none()) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  slice(T start, T stop) : slice(int_(start), int_(stop), none()) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  slice(T start, T stop, T step) : slice(int_(start), int_(stop), int_(step)) {}

  /** Start, stop, step and length of the slice of `size` items. */
  struct range {
    int64_t values[4];
    template <size_t I> int64_t get() const { return values[I]; }
  };
  range compute(size_t size) const {
    object found = detail::ask_python("slice_range", *this, detail::int_value(static_cast<int64_t>(size)));
    range made;
    for (int i = 0; i < 4; ++i) made.values[i] = cast<int64_t>(found[i]);
    return made;
  }
};
template <size_t I> int64_t get(const slice::range &range) { return range.values[I]; }

class module_ : public object {
  FFI_HPY_OBJECT(module_, object, "types.ModuleType", detail::is_kind("module", value))
  /** Imports a module of Python. */
  static module_ import_(const char *name) { return import_(detail::str_of(name)); }
  static module_ import_(handle name) { return steal<module_>(detail::ask_python("import", name).release()); }
  /** Makes a module inside of this one. */
  module_ def_submodule(const char *name, const char *doc = "") {
    return steal<module_>(detail::ask_python("submodule", *this, detail::str_of(name), detail::str_of(doc)).release());
  }
  /** Sets a function. Further arguments: documentation, the names and defaults of parameters, rv_policy, call_guard. */
  template <typename F, typename... Extra> module_ &def(const char *name, F &&f, const Extra &...extra);
};

class type_object : public object {
  FFI_HPY_OBJECT(type_object, object, "type", detail::is_kind("type", value))
};

/** An iterator of Python; in C++ an input iterator. */
class iterator : public object {
  FFI_HPY_OBJECT(iterator, object, "collections.abc.Iterator", detail::is_kind("iterator", value))
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
    return a.value_.is_valid() == b.value_.is_valid();
  }
  friend bool operator!=(const iterator &a, const iterator &b) { return !(a == b); }

private:
  void fetch() const {
    if (is_fetched_ || !is_valid()) return;
    next();
  }
  /* The package answers with a list of the value, or None at the end. */
  void next() const {
    object found = detail::ask_python("next", *this);
    value_ = found.is_none() ? object() : object(found[0]);
    is_fetched_ = true;
  }
  mutable object value_;
  mutable bool is_fetched_ = false;
};

namespace detail {
template <typename D> iterator object_api<D>::begin() const {
  return steal<iterator>(ask_python("iter", self()).release());
}
template <typename D> iterator object_api<D>::end() const { return iterator::sentinel(); }
} // namespace detail

class dict::pairs {
public:
  explicit pairs(iterator at) : at_(std::move(at)) {}
  std::pair<object, object> operator*() const {
    handle both = *at_;
    return {both[0], both[1]};
  }
  pairs &operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(const pairs &a, const pairs &b) { return a.at_ == b.at_; }
  friend bool operator!=(const pairs &a, const pairs &b) { return a.at_ != b.at_; }

private:
  iterator at_;
};
inline dict::pairs dict::begin() const { return pairs(attr("items")().begin()); }
inline dict::pairs dict::end() const { return pairs(iterator::sentinel()); }

/** An address with a function that is called when no one refers to it. */
class capsule : public object {
  FFI_HPY_OBJECT(capsule, object, "typing_extensions.CapsuleType", detail::is_kind("capsule", value))
  capsule(const void *value, const char *name, void (*cleanup)(void *) noexcept = nullptr)
      : object(detail::ask_python("capsule", cast(value), detail::str_of(name != nullptr ? name : ""),
                                  cast(reinterpret_cast<const void *>(cleanup)))) {}
  explicit capsule(const void *value, void (*cleanup)(void *) noexcept = nullptr) : capsule(value, nullptr, cleanup) {}
  void *data() const { return cast<void *>(detail::ask_python("capsule_data", *this)); }
  /** The address. ValueError if the capsule has another name. */
  void *data(const char *name) const {
    return cast<void *>(detail::ask_python("capsule_data", *this, detail::str_of(name != nullptr ? name : "")));
  }
  /** The name, valid while this object is. */
  const char *name() const {
    name_ = detail::ask_python("capsule_name", *this);
    std::string_view text;
    (void)detail::read_text(name_.any(), false, &text);
    return text.data();
  }

private:
  mutable object name_;
};

/** A handle whose value is an object of a bound class. */
template <typename T> class handle_t : public handle {
public:
  static constexpr auto Name = detail::make_caster<T>::Name;
  handle_t() = default;
  handle_t(handle value, detail::borrow_t) : handle(value) {}
  explicit handle_t(handle value) : handle(value) {}
  static bool check_(handle value);
};
/** A class of Python that is T's, or derives from it. */
template <typename T> class type_object_t : public type_object {
public:
  static constexpr auto Name = detail::const_name("type[") + detail::make_caster<T>::Name + detail::const_name("]");
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

/* ---- Functions of Python ---- */

/** Whether a value is an instance of a class of Python. */
inline bool isinstance(handle value, handle type) {
  return detail::int_of(detail::ask_python("isinstance", value, type)) != 0;
}
/** Whether a value is of a class of Python in C++ (list, str, ...), or a bound class or another type of C++. */
template <typename T> bool isinstance(handle value) {
  if constexpr (std::is_base_of_v<detail::api_tag, T>) {
    return T::check_(value);
  } else {
    detail::cleanup_list cleanup;
    detail::make_caster<T> caster;
    return value.is_valid() && !value.is_none() && caster.from_python(value, detail::cast_flags::manual, &cleanup);
  }
}
inline bool issubclass(handle type, handle base) {
  return detail::int_of(detail::ask_python("issubclass", type, base)) != 0;
}
inline bool hasattr(handle value, handle name) noexcept {
  try {
    return detail::int_of(detail::ask_python("hasattr", value, name)) != 0;
  } catch (...) {
    return false;
  }
}
inline bool hasattr(handle value, const char *name) noexcept { return hasattr(value, str(name)); }
inline object getattr(handle value, handle name) { return detail::ask_python("getattr", value, name); }
inline object getattr(handle value, const char *name) { return getattr(value, str(name)); }
inline object getattr(handle value, handle name, handle otherwise) {
  return detail::ask_python("getattr", value, name, otherwise);
}
inline object getattr(handle value, const char *name, handle otherwise) { return getattr(value, str(name), otherwise); }
inline void setattr(handle value, handle name, handle to) { detail::ask_python("setattr", value, name, to); }
inline void setattr(handle value, const char *name, handle to) { setattr(value, str(name), to); }
inline void delattr(handle value, handle name) { detail::ask_python("delattr", value, name); }
inline void delattr(handle value, const char *name) { delattr(value, str(name)); }
inline void del(const accessor &what) { what.del(); }
inline size_t len(handle value) { return static_cast<size_t>(detail::int_of(detail::ask_python("len", value))); }
inline size_t len_hint(handle value) {
  return static_cast<size_t>(detail::int_of(detail::ask_python("len_hint", value)));
}
inline str repr(handle value) { return steal<str>(detail::ask_python("repr", value).release()); }
inline int64_t hash(handle value) { return detail::int_of(detail::ask_python("hash", value)); }
inline iterator iter(handle value) { return steal<iterator>(detail::ask_python("iter", value).release()); }
inline dict builtins() { return steal<dict>(detail::ask_python("builtins").release()); }
inline dict globals() { return steal<dict>(detail::ask_python("globals").release()); }
/** Prints a value, as Python's print(). */
inline void print(handle value, handle end = handle(), handle file = handle()) {
  detail::ask_python("print", value, end.is_valid() ? end : handle(detail::none_value()),
                     file.is_valid() ? file : handle(detail::none_value()));
}
inline void print(const char *text, handle end = handle(), handle file = handle()) { print(str(text), end, file); }

/** A tuple of values. */
template <rv_policy policy = rv_policy::automatic, typename... Args> tuple make_tuple(Args &&...args) {
  return steal<tuple>(detail::ask_python("tuple", cast(std::forward<Args>(args), policy)...).release());
}

namespace detail {

/** The bound class of a class of Python: its own, or that of its nearest bound base; null for another class. */
inline const ffi_hpy_class *find_bound_class(handle type) {
  return reinterpret_cast<const ffi_hpy_class *>(static_cast<intptr_t>(int_of(ask_python("class_address", type))));
}
inline const ffi_hpy_class &bound_class(handle type) {
  const ffi_hpy_class *found = find_bound_class(type);
  if (found == nullptr) throw builtin_exception("TypeError", "expected a bound class");
  return *found;
}

} // namespace detail

/** The class of Python for a bound class, or an empty handle. The class lives as long as the process. */
template <typename T> handle type() {
  const ffi_hpy_class *found = detail::class_of<T>::find();
  if (found == nullptr) return handle();
  return detail::ask_python("class_of_index", detail::int_value(found->type_index)).release();
}

/* ---- Casters ---- */

namespace detail {

template <typename T> inline constexpr bool is_typed_v = false;
template <typename T, typename... Ts> inline constexpr bool is_typed_v<typed<T, Ts...>> = true;

template <typename T> struct python_name {
  static constexpr auto Name = T::Name;
};
template <> struct python_name<handle> {
  static constexpr auto Name = const_name("object");
};
template <> struct python_name<object> : python_name<handle> {};

/** The classes of Python, and handle. */
template <typename T> struct type_caster<T, enable_if_t<std::is_base_of_v<handle, T> && !is_typed_v<T>>> {
  FFI_HPY_TYPE_CASTER(T, python_name<T>::Name);

  type_caster() : value(initial()) {}
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    if (!is_instance(source)) return false;
    if constexpr (std::is_base_of_v<object, T>) {
      value = borrow<T>(source);
    } else if constexpr (std::is_same_v<T, handle>) {
      value = source;
    } else {
      value = T(source);
    }
    return true;
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept {
    source.inc_ref();
    return source;
  }

private:
  static T initial() {
    if constexpr (std::is_base_of_v<object, T>) {
      return T(handle(), steal_t{});
    } else {
      return T();
    }
  }
  static bool is_instance(handle source) noexcept {
    if constexpr (std::is_same_v<T, handle> || std::is_same_v<T, object> || std::is_same_v<T, any>) {
      return source.is_valid();
    } else if constexpr (std::is_same_v<T, fallback>) {
      return source.is_valid();
    } else {
      try {
        return T::check_(source);
      } catch (...) {
        return false;
      }
    }
  }
};

/** `*args` and `**kwargs`, which the core passes as an Array: of values, or of names and values in turn. */
template <typename T> struct rest_caster {
  FFI_HPY_TYPE_CASTER(T, T::Name);
  rest_caster() : value(handle(), steal_t{}) {}
  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    if (source.any().type_index != kTVMFFIArray) return false;
    handle made = guarded([&] {
      const auto *cell = reinterpret_cast<const TVMFFISeqCell *>(source.any().v_obj + 1);
      const auto *items = static_cast<const TVMFFIAny *>(cell->data);
      object operation = str_of(std::is_same_v<T, args> ? "tuple" : "dict");
      std::vector<TVMFFIAny> all{operation.any()};
      all.insert(all.end(), items, items + cell->size);
      return ask_package(all.data(), all.size());
    });
    if (!made.is_valid()) python_error dropped;
    value = steal<T>(made);
    return made.is_valid();
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept { return source.inc_ref(); }
};
template <> struct type_caster<args> : rest_caster<args> {};
template <> struct type_caster<kwargs> : rest_caster<kwargs> {};

template <> struct type_caster<accessor> {
  static constexpr auto Name = const_name("object");
  static handle from_cpp(const accessor &source, rv_policy, cleanup_list *) noexcept {
    return guarded([&] { return object(source); });
  }
};

template <typename T, typename... Ts> struct typed_text {
  static constexpr auto Name =
      make_caster<T>::Name + const_name("[") +
      concat(const_name<std::is_same_v<Ts, ellipsis>>(const_name("..."), make_caster<Ts>::Name)...) + const_name("]");
};
template <typename T> struct typed_text<object, T> {
  static constexpr auto Name = make_caster<T>::Name;
};
template <typename T> struct typed_text<handle, T> {
  static constexpr auto Name = make_caster<T>::Name;
};
template <typename R> using result_caster = make_caster<std::conditional_t<std::is_void_v<R>, void_type, R>>;
template <typename R, typename... Args> struct typed_text<callable, R(Args...)> {
  static constexpr auto Name = const_name("collections.abc.Callable[[") + concat(make_caster<Args>::Name...) +
                               const_name("], ") + result_caster<R>::Name + const_name("]");
};
template <typename R> struct typed_text<callable, R(...)> {
  static constexpr auto Name = const_name("collections.abc.Callable[..., ") + result_caster<R>::Name + const_name("]");
};
template <typename T, typename... Ts> struct type_caster<typed<T, Ts...>> {
  using Typed = typed<T, Ts...>;
  using Value = Typed;
  static constexpr auto Name = typed_text<T, Ts...>::Name;
  template <typename T_> using Cast = movable_cast_t<T_>;
  template <typename T_> static constexpr bool can_cast() { return true; }
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    value = std::move(caster.value);
    return true;
  }
  static handle from_cpp(const handle &source, rv_policy, cleanup_list *) noexcept { return source.inc_ref(); }
  explicit operator Typed &() { return value; }
  explicit operator Typed *() { return &value; }
  explicit operator Typed &&() { return std::move(value); }
  Typed value{make_caster<T>().value};
};

template <typename T> struct type_caster<pointer_and_handle<T>> {
  using Both = pointer_and_handle<T>;
  FFI_HPY_TYPE_CASTER(Both, make_caster<T>::Name);
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<T> inner;
    if (!inner.from_python(source, flags, cleanup) || !inner.template can_cast<T *>()) return false;
    value = {inner.operator T *(), source};
    return true;
  }
};

} // namespace detail

template <typename T> bool handle_t<T>::check_(handle value) { return isinstance<T>(value); }
template <typename T> bool type_object_t<T>::check_(handle value) {
  handle own = ::FFI_HPY_BIND_NAMESPACE::type<T>();
  return own.is_valid() && type_object::check_(value) && issubclass(value, own);
}

#undef FFI_HPY_SIZED

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPES_H_ */
