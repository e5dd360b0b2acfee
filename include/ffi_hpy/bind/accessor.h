/* accessor.h - attributes, items, calls and operators of values of Python. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ACCESSOR_H_
#define FFI_HPY_BIND_ACCESSOR_H_

#include <ffi_hpy/bind/arg.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Keeps a borrowed value alive until the thread has borrowed 64 further values. Values without a reference need no
 * owner. */
inline handle lend(object made) noexcept { return in_module->lend(std::move(made)); }
FFI_HPY_NOINLINE inline handle lend_in_module(object made) noexcept {
  enum { kLent = 64 };
  thread_local object lent[kLent];
  thread_local unsigned next = 0;
  handle borrowed = made;
  if (is_object(borrowed.any())) lent[next++ % kLent] = std::move(made);
  return borrowed;
}

/** Reads an object of a class of Python that derives from str or bytes. The text is valid as long as the object, or, on
 * PyPy, until the thread has read 64 further texts. */
FFI_HPY_COLD inline bool read_object_text_in_module(const TVMFFIAny &value, bool is_bytes,
                                                    std::string_view *out) noexcept {
  TVMFFIByteArray inside{};
  python_values python = *api->python;
  if (python != nullptr && python->read_text(&value, is_bytes, &inside) != 0) {
    *out = {inside.data, inside.size};
    return true;
  }
  enum { kLent = 64 };
  thread_local object lent[kLent];
  thread_local unsigned next = 0;
  object text;
  try {
    text = ask_python("plain_text", handle(value), handle(word(kTVMFFIBool, is_bytes)));
  } catch (...) {
    if (translate_exception() == -1) python_error dropped;
  }
  if (text.is_none()) return false;
  object &kept = lent[next++ % kLent] = std::move(text);
  return read_text(kept.any(), is_bytes, out);
}

} // namespace detail

/** An attribute or an item of an object: read when it is used, set by `=`. */
class accessor : public detail::object_api<accessor> {
public:
  enum class kind { attribute, item };

  accessor(handle base, object key, kind what)
      : base_(borrow(base)), owned_key_(std::move(key)), key_(owned_key_), what_(what) {}
  /** Borrows a key that lives longer than the accessor, as a variable of the caller does. */
  accessor(handle base, handle key, kind what, detail::borrow_t) : base_(borrow(base)), key_(key), what_(what) {}
  accessor(const accessor &) = default;
  accessor(accessor &&) noexcept = default;
  accessor &operator=(const accessor &value) {
    set(value.get());
    return *this;
  }
  accessor &operator=(accessor &&value) {
    set(value.get());
    return *this;
  }
  template <typename T> accessor &operator=(T &&value) {
    set(cast(std::forward<T>(value)));
    return *this;
  }
  operator handle() const & { return get(); }
  /** A temporary returns a handle that lives longer than the expression, as sources of nanobind expect. */
  operator handle() && { return detail::lend(get()); }
  /** The value as an object of a class of Python, which is not checked. */
  template <typename T, std::enable_if_t<std::is_base_of_v<object, T>, int> = 0> operator T() const {
    return borrow<T>(get());
  }
  /** The object whose attribute or item this is. */
  handle base() const { return base_; }
  /** The name of an attribute that was not read yet, so that a call can look for a method; otherwise null. */
  const handle *unread_attribute() const { return what_ == kind::attribute && !read_.is_valid() ? &key_ : nullptr; }
  /** The value, which is read once. */
  const object &get() const {
    if (!read_.is_valid())
      read_ = detail::ask_python(what_ == kind::attribute ? kFfiHpyRunGetAttr : kFfiHpyRunGetItem, base_, key_);
    return read_;
  }
#if defined(FFI_HPY_BIND_PY_OBJECT)
  PyObject *ptr() const & { return get().ptr(); }
  PyObject *ptr() && { return detail::lend(get()).ptr(); }
#endif
  /** Deletes the attribute or the item. */
  void del() const { detail::ask_python(what_ == kind::attribute ? "delattr" : "delitem", base_, key_); }

  template <typename T> accessor &operator+=(const T &value) { return update("iadd", cast(value)); }
  template <typename T> accessor &operator-=(const T &value) { return update("isub", cast(value)); }
  template <typename T> accessor &operator*=(const T &value) { return update("imul", cast(value)); }
  template <typename T> accessor &operator/=(const T &value) { return update("itruediv", cast(value)); }
  template <typename T> accessor &operator%=(const T &value) { return update("imod", cast(value)); }
  template <typename T> accessor &operator|=(const T &value) { return update("ior", cast(value)); }
  template <typename T> accessor &operator&=(const T &value) { return update("iand", cast(value)); }
  template <typename T> accessor &operator^=(const T &value) { return update("ixor", cast(value)); }
  template <typename T> accessor &operator<<=(const T &value) { return update("ilshift", cast(value)); }
  template <typename T> accessor &operator>>=(const T &value) { return update("irshift", cast(value)); }

private:
  void set(const object &value) {
    detail::ask_python(what_ == kind::attribute ? kFfiHpyRunSetAttr : kFfiHpyRunSetItem, base_, key_, value);
    read_.reset();
  }
  accessor &update(const char *operation, const object &value) {
    set(detail::use_operator(operation, get(), value));
    return *this;
  }

  object base_, owned_key_;
  handle key_;
  kind what_;
  mutable object read_;
};

/** `*tuple` in a call. */
class args_proxy : public handle {
public:
  explicit args_proxy(handle value) : handle(value) {}
  kwargs_proxy operator*() const;
};
/** `**dict` in a call. */
class kwargs_proxy : public handle {
public:
  explicit kwargs_proxy(handle value) : handle(value) {}
};
inline kwargs_proxy args_proxy::operator*() const { return kwargs_proxy(*this); }

namespace detail {

/** Whether an argument of a call in C++ is a value by position. */
template <typename T>
constexpr bool is_positional_v =
    !std::is_same_v<std::decay_t<T>, args_proxy> && !std::is_same_v<std::decay_t<T>, kwargs_proxy> &&
    !std::is_same_v<std::decay_t<T>, arg_v>;
[[noreturn]] FFI_HPY_COLD inline void refuse_empty_argument() {
  throw cast_error("std::bad_cast: an argument of a call is empty");
}
[[noreturn]] FFI_HPY_COLD inline void refuse_empty_callable() {
  throw cast_error("std::bad_cast: an empty object is called");
}
/** Calls a function, or a method of `function`, with n arguments by position: views[3] and the following. */
FFI_HPY_NOINLINE inline object call_with(handle function, const handle *method, TVMFFIAny *views, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (views[i + 3].type_index == kNull) refuse_empty_argument();
  }
  views[2] = function.any();
  if (method == nullptr) return ask_python_with(kFfiHpyRunCall, views + 1, n + 2);
  views[1] = method->any();
  return ask_python_with(kFfiHpyRunCallMethod, views, n + 3);
}

/** The arguments of another call. `kinds` has a letter for each: 'p' for a value, '*' and '#' for *tuple and **dict,
 * and 'k' for a name, which the value follows. */
class call_arguments {
public:
  template <typename T> void add(T &&value, rv_policy policy) {
    using Plain = std::decay_t<T>;
    if constexpr (std::is_same_v<Plain, args_proxy>) {
      push('*', borrow(value));
    } else if constexpr (std::is_same_v<Plain, kwargs_proxy>) {
      push('#', borrow(value));
    } else if constexpr (std::is_same_v<Plain, arg_v>) {
      push('k', str_of(value.name != nullptr ? value.name : ""));
      add(value.value);
    } else {
      push('p', cast(std::forward<T>(value), policy));
    }
  }
  FFI_HPY_NOINLINE object call(handle function) {
    object kinds = str_of(kinds_);
    item_list<TVMFFIAny> args;
    args.add(none_value());
    args.add(function.any());
    args.add(kinds.any());
    for (const object &each : values_) args.add(each.any());
    return ask_python_with("call", args.data(), args.size());
  }

private:
  FFI_HPY_NOINLINE void push(char kind, object value) {
    kinds_ += kind;
    add(std::move(value));
  }
  void add(object value) {
    if (!value.is_valid()) refuse_empty_argument();
    values_.add(std::move(value));
  }

  std::string kinds_;
  item_list<object> values_;
};

template <typename D> handle object_api<D>::self() const { return static_cast<const D &>(*this); }
template <typename D> accessor object_api<D>::attr(const char *name) const {
#if defined(FFI_HPY_BIND_PY_OBJECT) /* as nanobind's accessors do */
  return accessor(self(), raw_text(name), accessor::kind::attribute, borrow_t{});
#else
  return accessor(self(), str_of(name), accessor::kind::attribute);
#endif
}
template <typename D> accessor object_api<D>::attr(handle name) const {
  return accessor(self(), borrow(name), accessor::kind::attribute);
}
template <typename D> accessor object_api<D>::doc() const { return attr("__doc__"); }
template <typename D> accessor object_api<D>::operator[](handle key) const {
  return accessor(self(), borrow(key), accessor::kind::item);
}
template <typename D> accessor object_api<D>::operator[](const object &key) const {
#if defined(FFI_HPY_BIND_PY_OBJECT) /* as nanobind's accessors do */
  return accessor(self(), key, accessor::kind::item, borrow_t{});
#else
  return accessor(self(), key, accessor::kind::item);
#endif
}
template <typename D> accessor object_api<D>::operator[](object &&key) const {
  return accessor(self(), std::move(key), accessor::kind::item);
}
template <typename D> accessor object_api<D>::operator[](const accessor &key) const {
  return accessor(self(), key.get(), accessor::kind::item);
}
template <typename D> accessor object_api<D>::operator[](const char *key) const {
#if defined(FFI_HPY_BIND_PY_OBJECT) /* as nanobind's accessors do */
  return accessor(self(), raw_text(key), accessor::kind::item, borrow_t{});
#else
  return accessor(self(), str_of(key), accessor::kind::item);
#endif
}
template <typename D>
template <typename I, std::enable_if_t<std::is_arithmetic_v<I>, int>>
accessor object_api<D>::operator[](I index) const {
  return accessor(self(), cast(index), accessor::kind::item);
}
template <typename D>
template <rv_policy policy, typename... Args>
object object_api<D>::operator()(Args &&...args) const {
  if constexpr ((is_positional_v<Args> && ...)) {
    const handle *method = nullptr;
    handle function;
    if constexpr (std::is_same_v<D, accessor>) {
      method = derived().unread_attribute();
      function = derived().base();
    }
    if (method == nullptr) function = self();
    if (!function.is_valid()) refuse_empty_callable();
    object values[sizeof...(Args) + 1] = {object(cast(std::forward<Args>(args), policy))...};
    TVMFFIAny views[sizeof...(Args) + 3];
    for (size_t i = 0; i < sizeof...(Args); ++i) views[i + 3] = values[i].any();
    return call_with(function, method, views, sizeof...(Args));
  } else {
    handle function = self();
    if (!function.is_valid()) refuse_empty_callable();
    call_arguments all;
    (all.add(std::forward<Args>(args), policy), ...);
    return all.call(function);
  }
}
template <typename D> args_proxy object_api<D>::operator*() const { return args_proxy(self()); }
template <typename D> bool object_api<D>::is_none() const { return self().is_none(); }
template <typename D> bool object_api<D>::is_valid() const { return self().is_valid(); }
template <typename D> bool object_api<D>::is(handle other) const {
  const handle own = self();
  const TVMFFIAny &a = own.any(), &b = other.any();
  if (a.type_index == b.type_index && a.v_int64 == b.v_int64) return true;
  if (a.type_index != b.type_index || a.type_index != kTVMFFIOpaquePyObject) return false;
  return ask_python(kFfiHpyRunIs, own, other).any().v_int64 != 0;
}
template <typename D> bool object_api<D>::is_type() const { return is_kind("type", self()); }
template <typename D> object object_api<D>::type() const {
  object found = ask_python(kFfiHpyRunType, self());
  lend(found); /* sources of nanobind store a handle of it */
  return found;
}

inline bool compare(const char *operation, handle a, handle b) {
  return ask_python(kFfiHpyRunBool, use_operator(operation, a, b)).any().v_int64 != 0;
}
template <typename D> bool object_api<D>::equal(handle other) const {
  return ask_python(kFfiHpyRunEqual, self(), other).any().v_int64 != 0;
}
template <typename D> bool object_api<D>::not_equal(handle other) const {
  return ask_python("not_equal", self(), other).any().v_int64 != 0;
}
template <typename D> bool object_api<D>::operator<(handle other) const { return compare("lt", self(), other); }
template <typename D> bool object_api<D>::operator<=(handle other) const { return compare("le", self(), other); }
template <typename D> bool object_api<D>::operator>(handle other) const { return compare("gt", self(), other); }
template <typename D> bool object_api<D>::operator>=(handle other) const { return compare("ge", self(), other); }
template <typename D> object object_api<D>::operator-() const { return use_operator("neg", self()); }
template <typename D> object object_api<D>::operator~() const { return use_operator("invert", self()); }
template <typename D> object object_api<D>::floor_div(handle other) const {
  return use_operator("floordiv", self(), other);
}

} // namespace detail

#define FFI_HPY_OPERATOR(symbol, name)                                                     \
  template <typename A, typename B>                                                        \
  object operator symbol(const detail::object_api<A> &a, const detail::object_api<B> &b) { \
    handle left = static_cast<const A &>(a), right = static_cast<const B &>(b);            \
    return detail::use_operator(name, left, right);                                        \
  }
FFI_HPY_OPERATOR(+, "add")
FFI_HPY_OPERATOR(-, "sub")
FFI_HPY_OPERATOR(*, "mul")
FFI_HPY_OPERATOR(/, "truediv")
FFI_HPY_OPERATOR(%, "mod")
FFI_HPY_OPERATOR(|, "or_")
FFI_HPY_OPERATOR(&, "and_")
FFI_HPY_OPERATOR(^, "xor")
FFI_HPY_OPERATOR(<<, "lshift")
FFI_HPY_OPERATOR(>>, "rshift")
#undef FFI_HPY_OPERATOR

#define FFI_HPY_INPLACE(symbol, name)                                                       \
  template <typename D> object detail::object_api<D>::operator symbol(handle other) const { \
    return detail::use_operator(name, self(), other);                                       \
  }                                                                                         \
  inline object &object::operator symbol(handle other) { return *this = object_api<handle>::operator symbol(other); }
FFI_HPY_INPLACE(+=, "iadd")
FFI_HPY_INPLACE(-=, "isub")
FFI_HPY_INPLACE(*=, "imul")
FFI_HPY_INPLACE(/=, "itruediv")
FFI_HPY_INPLACE(%=, "imod")
FFI_HPY_INPLACE(|=, "ior")
FFI_HPY_INPLACE(&=, "iand")
FFI_HPY_INPLACE(^=, "ixor")
FFI_HPY_INPLACE(<<=, "ilshift")
FFI_HPY_INPLACE(>>=, "irshift")
#undef FFI_HPY_INPLACE

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ACCESSOR_H_ */
