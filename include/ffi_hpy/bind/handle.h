/* handle.h - values of Python in C++: handle borrows one, object owns one. Programs include ffi_hpy/bind.h.
 *
 * A handle is a value of the ABI (TVMFFIAny). None, numbers, str, bytes, Functions and objects of bound classes are
 * native values; every other object of Python is inside of a native object. The binding performs the frequent
 * operations on Python objects and the package performs all others, so they work on every interpreter. */
#ifndef FFI_HPY_BIND_HANDLE_H_
#define FFI_HPY_BIND_HANDLE_H_

#include <ffi_hpy/bind/runtime.h>
#if defined(FFI_HPY_BIND_PY_OBJECT)
#include <ffi_hpy/bind/py_object.h>
#endif

#include <cstddef>
#include <type_traits>

FFI_HPY_NAMESPACE_BEGIN

class handle;
class object;
class accessor;
class iterator;
class args_proxy;
class kwargs_proxy;

/** The ownership of a function's result, and the way in which it becomes a Python object. The values have nanobind's
 * meanings. */
enum class rv_policy {
  automatic,           /**< take_ownership for a pointer, move for a value, copy for a reference */
  automatic_reference, /**< as automatic, but reference for a pointer */
  take_ownership,      /**< Python deletes the object */
  copy,                /**< Python gets a copy */
  move,                /**< Python gets an object that the result is moved into */
  reference,           /**< Python refers to the object and does not own it */
  reference_internal,  /**< as reference, and the object of the method lives at least as long */
  none,                /**< the object must be known to Python already */
  automatic_v = automatic,
  automatic_reference_v = automatic_reference,
  take_ownership_v = take_ownership,
  copy_v = copy,
  move_v = move,
  reference_v = reference,
  reference_internal_v = reference_internal,
  none_v = none
};

namespace detail {

struct api_tag {};
struct borrow_t {};
struct steal_t {};

/** The operations of Python on a value, which handle, object and accessor share. Each throws python_error if Python
 * raises an exception. */
template <typename Derived> class object_api : public api_tag {
public:
  /** The object itself, as its own class. */
  Derived &derived() { return static_cast<Derived &>(*this); }
  const Derived &derived() const { return static_cast<const Derived &>(*this); }

  /** An attribute, which is read when it is used, or set by `=`. */
  accessor attr(const char *name) const;
  accessor attr(handle name) const;
  /** The documentation. */
  accessor doc() const;
  /** An item, which is read when it is used, or set by `=`. */
  accessor operator[](handle key) const;
  /** An accessor borrows a key that is a variable. */
  accessor operator[](const object &key) const;
  accessor operator[](object &&key) const;
  accessor operator[](const accessor &key) const;
  accessor operator[](const char *key) const;
  template <typename I, std::enable_if_t<std::is_arithmetic_v<I>, int> = 0> accessor operator[](I index) const;
  iterator begin() const;
  iterator end() const;
  /** Calls the object. Arguments: any values, "name"_a = value, *tuple, **dict. */
  template <rv_policy policy = rv_policy::automatic_reference, typename... Args>
  object operator()(Args &&...args) const;
  args_proxy operator*() const;

  /** Whether both are one object. */
  bool is(handle other) const;
  bool is_none() const;
  bool is_valid() const;
  /** Whether the object is a class. */
  bool is_type() const;
  /** The class. */
  object type() const;
  /** Comparisons in Python. */
  bool equal(handle other) const;
  bool not_equal(handle other) const;
  bool operator<(handle other) const;
  bool operator<=(handle other) const;
  bool operator>(handle other) const;
  bool operator>=(handle other) const;
  object operator-() const;
  object operator~() const;
  object floor_div(handle other) const;
  /** The results of Python's `+=` and similar operators, which leave this variable unchanged; the operators of object
   * assign the result. */
  object operator+=(handle other) const;
  object operator-=(handle other) const;
  object operator*=(handle other) const;
  object operator/=(handle other) const;
  object operator%=(handle other) const;
  object operator|=(handle other) const;
  object operator&=(handle other) const;
  object operator^=(handle other) const;
  object operator<<=(handle other) const;
  object operator>>=(handle other) const;

protected:
  handle self() const;
};

} // namespace detail

/** A borrowed value of Python: valid while its owner is. A default handle refers to nothing. */
class handle : public detail::object_api<handle> {
public:
  constexpr handle() : any_(detail::word(detail::kNull, 0)) {}
  constexpr handle(std::nullptr_t) : handle() {}
  constexpr explicit handle(const TVMFFIAny &any) : any_(any) {}
#if defined(FFI_HPY_BIND_PY_OBJECT)
  handle(const PyObject *pointer) : any_(detail::value_of(pointer)) {}
  handle(PyTypeObject *type) : any_(detail::class_value(type)) {}
  /** The value as one word, borrowed. Two pointers may be of one object of Python: compare with is(). */
  PyObject *ptr() const { return detail::pointer_of(any_); }
#endif

  /** The value of the ABI, borrowed. A temporary handle returns a copy: a reference to its own would not stay valid. */
  constexpr const TVMFFIAny &any() const & { return any_; }
  constexpr TVMFFIAny any() const && { return any_; }
  constexpr bool is_valid() const { return any_.type_index != detail::kNull; }
  constexpr explicit operator bool() const { return is_valid(); }
  constexpr bool is_none() const { return any_.type_index == kTVMFFINone; }
  /** Adds a reference, which the caller must release. */
  const handle &inc_ref() const {
    if (detail::is_object(any_)) detail::add_ref(any_.v_obj);
    return *this;
  }
  /** Any value is a handle. */
  static bool check_(handle) { return true; }
  /** Releases a reference. */
  const handle &dec_ref() const {
    if (detail::is_object(any_)) detail::api->dec_ref(any_.v_obj);
    return *this;
  }

protected:
  TVMFFIAny any_;
};

/** An owned value of Python. */
class object : public handle {
public:
  constexpr object() = default;
  object(handle value, detail::borrow_t) : handle(value) { inc_ref(); }
  object(handle value, detail::steal_t) : handle(value) {}
  object(const object &other) : handle(other) { inc_ref(); }
  object(object &&other) noexcept : handle(other.release()) {}
  ~object() { dec_ref(); }
  object &operator=(const object &other) {
    object copy(other);
    std::swap(any_, copy.any_);
    return *this;
  }
  object &operator=(object &&other) noexcept {
    object moved(other.release(), detail::steal_t{});
    std::swap(any_, moved.any_);
    return *this;
  }
  /** Gives the reference to the caller. */
  handle release() {
    handle given = *this;
    any_ = detail::word(detail::kNull, 0);
    return given;
  }
  void reset() { *this = object(); }

  object &operator+=(handle other);
  object &operator-=(handle other);
  object &operator*=(handle other);
  object &operator/=(handle other);
  object &operator%=(handle other);
  object &operator|=(handle other);
  object &operator&=(handle other);
  object &operator^=(handle other);
  object &operator<<=(handle other);
  object &operator>>=(handle other);

  /** Whether a value is of this class: any value is. */
  static bool check_(handle value) { return value.is_valid(); }
};

/** An object with a new reference. */
template <typename T = object> T borrow(handle value) { return T(value, detail::borrow_t{}); }
/** An object that owns the caller's reference. */
template <typename T = object> T steal(handle value) { return T(value, detail::steal_t{}); }

namespace detail {

/** An owned value of the ABI as an object. */
inline object take(const TVMFFIAny &value) { return steal(handle(value)); }
/** A result of a function of the core that returns a new reference. */
inline object take_object(TVMFFIObjectHandle made) { return take(view_of(made)); }

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_HANDLE_H_ */
