/* weak_callback.h - functions of C++ that a weak reference of Python calls. Programs include ffi_hpy/bind.h.
 *
 * Sources for nanobind release the weakref, and call dec_ref() of the argument of the callback. There both are one
 * object of Python with one count; here they are native objects, so the callback must get the same one. */
#ifndef FFI_HPY_BIND_WEAK_CALLBACK_H_
#define FFI_HPY_BIND_WEAK_CALLBACK_H_

#include <ffi_hpy/bind/function.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A weak reference to a native object: keeps the memory, but not the object. */
class weak_object {
public:
  weak_object() = default;
  weak_object(const weak_object &) = delete;
  weak_object &operator=(const weak_object &) = delete;
  ~weak_object() {
    if (object_ != nullptr && drop_weak_ref(object_)) object_->deleter(object_, kTVMFFIObjectDeleterFlagBitMaskWeak);
  }
  /** Refers to the object of a value, which is alive. */
  void watch(const object &value) {
    if (!is_object(value.any())) return;
    object_ = value.any().v_obj;
    add_weak_ref(object_);
  }
  /** The object, or an empty one if it has ended. */
  object lock() const { return object_ != nullptr && add_ref_if_alive(object_) ? take_object(object_) : object(); }

private:
  TVMFFIObject *object_ = nullptr;
};

/** The function that a weak reference calls: passes the reference on, as the native object that C++ has. */
class weak_callback {
public:
  weak_callback(object function, weak_object *reference) : function_(std::move(function)), reference_(reference) {}
  weak_callback(weak_callback &&other) noexcept
      : function_(std::move(other.function_)), reference_(std::exchange(other.reference_, nullptr)) {}
  ~weak_callback() { delete reference_; }
  void operator()(handle given) const {
    object same = reference_->lock();
    TVMFFIAny arg = same.is_valid() ? same.any() : given.any();
    TVMFFIAny result = none_value();
    check(api->call(function_.any().v_obj, &arg, 1, &result));
    take(result);
  }

private:
  object function_;
  weak_object *reference_;
};

template <typename Object> object weakref_with(handle value, const Object &callback) {
  if (!callback.is_valid() || callback.is_none()) return ask_python("weakref", value);
  object function = ask_python("to_function", callback);
  if (function.any().type_index != kTVMFFIFunction) throw builtin_exception("TypeError", "expected a callable");
  auto *reference = new weak_object;
  object made = ask_python("weakref", value, cpp_function(weak_callback(std::move(function), reference)));
  reference->watch(made); /* the weak reference owns the callback, which owns the object */
  return made;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_WEAK_CALLBACK_H_ */
