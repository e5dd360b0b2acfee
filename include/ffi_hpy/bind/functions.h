/* functions.h - the built-in functions of Python in C++: isinstance, getattr, len, print and others. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_FUNCTIONS_H_
#define FFI_HPY_BIND_FUNCTIONS_H_

#include <ffi_hpy/bind/types.h>

FFI_HPY_NAMESPACE_BEGIN

/** Whether a value is an instance of a class of Python. */
inline bool isinstance(handle value, handle type) {
  return detail::int_of(detail::ask_python(kFfiHpyRunIsInstance, value, type)) != 0;
}
/** Whether a value is of a class of Python in C++ (list, str, ...), or a bound class or another type of C++. */
template <typename T> bool isinstance(handle value) {
  if constexpr (std::is_base_of_v<detail::api_tag, T>) {
    return T::check_(value);
  } else if constexpr (detail::is_base_caster_v<detail::make_caster<T>>) {
    return detail::is_instance(value, &detail::class_of<detail::intrinsic_t<T>>::record); /* also one without a value */
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
    return detail::int_of(detail::ask_python(kFfiHpyRunHasAttr, value, name)) != 0;
  } catch (...) {
    return false;
  }
}
inline bool hasattr(handle value, const char *name) noexcept { return hasattr(value, str(name)); }
inline object getattr(handle value, handle name) { return detail::ask_python(kFfiHpyRunGetAttr, value, name); }
inline object getattr(handle value, const char *name) { return getattr(value, str(name)); }
/** An attribute, or another value if it cannot be read, for whatever reason. */
inline object getattr(handle value, handle name, handle otherwise) noexcept {
  try {
    return getattr(value, name);
  } catch (...) {
    return borrow(otherwise);
  }
}
inline object getattr(handle value, const char *name, handle otherwise) noexcept {
  return getattr(value, str(name), otherwise);
}
inline void setattr(handle value, handle name, handle to) { detail::ask_python(kFfiHpyRunSetAttr, value, name, to); }
inline void setattr(handle value, const char *name, handle to) { setattr(value, str(name), to); }
inline void delattr(handle value, handle name) { detail::ask_python("delattr", value, name); }
inline void delattr(handle value, const char *name) { delattr(value, str(name)); }
inline void del(const accessor &what) { what.del(); }
inline size_t len(handle value) {
  return static_cast<size_t>(detail::int_of(detail::ask_python(kFfiHpyRunLength, value)));
}
/** The length that an object tells in advance; 0 if the object tells none. */
inline size_t len_hint(handle value) {
  try {
    return static_cast<size_t>(detail::int_of(detail::ask_python("len_hint", value)));
  } catch (const python_error &) {
    return 0;
  }
}
inline str repr(handle value) { return steal<str>(detail::ask_python("repr", value).release()); }
inline int64_t hash(handle value) { return detail::int_of(detail::ask_python("hash", value)); }
inline iterator iter(handle value) { return steal<iterator>(detail::ask_python(kFfiHpyRunIter, value).release()); }
inline dict builtins() { return steal<dict>(detail::ask_python("builtins").release()); }
inline dict globals() { return steal<dict>(detail::ask_python("globals").release()); }
/** Whether Python can be asked: false before the library is imported, and after the interpreter has ended. */
inline bool is_alive() noexcept {
  if (detail::api == nullptr) return false;
  handle answer = detail::guarded([] { return detail::ask_python(kFfiHpyRunBool, handle(detail::none_value())); });
  if (!answer.is_valid()) python_error dropped;
  return answer.is_valid();
}
/** Prints a value, as Python's print(). */
inline void print(handle value, handle end = handle(), handle file = handle()) {
  detail::ask_python("print", value, end.is_valid() ? end : handle(detail::none_value()),
                     file.is_valid() ? file : handle(detail::none_value()));
}
inline void print(const char *text, handle end = handle(), handle file = handle()) { print(str(text), end, file); }

/** A tuple of values. */
template <rv_policy policy = rv_policy::automatic, typename... Args> tuple make_tuple(Args &&...args) {
  return steal<tuple>(detail::ask_python(kFfiHpyRunTuple, cast(std::forward<Args>(args), policy)...).release());
}

namespace detail {

/** The bound class of a class of Python, or else of the nearest bound base; null if there is none. */
inline const ffi_hpy_class *find_bound_class(handle type) {
  return reinterpret_cast<const ffi_hpy_class *>(static_cast<intptr_t>(int_of(ask_python("class_address", type))));
}
inline const ffi_hpy_class &bound_class(handle type) {
  const ffi_hpy_class *found = find_bound_class(type);
  if (found == nullptr) throw builtin_exception("TypeError", "expected a bound class");
  return *found;
}

/** The class of Python of a record, or an empty handle. */
inline handle python_class(class_record *record) { return in_module->python_class(record); }
FFI_HPY_NOINLINE inline handle python_class_in_module(class_record *record) {
  /* acquire and release: the object is complete for all threads */
  TVMFFIObject *known = record->python.load(std::memory_order_acquire);
  if (known == nullptr) {
    const ffi_hpy_class *found = find_class(record);
    if (found == nullptr) return handle();
    object made = ask_python("class_of_index", int_value(found->type_index));
    TVMFFIObject *own = made.any().v_obj;
    if (record->python.compare_exchange_strong(known, own, std::memory_order_acq_rel)) {
      known = made.release().any().v_obj;
    }
  }
  return handle(view_of(known));
}

template <typename E> struct enum_of;

} // namespace detail

/** The class of Python for a bound class or enum, or an empty handle. The class lives as long as the process. The
 * members of an enum must be complete. */
template <typename T> handle type() {
  handle cls = detail::python_class(&detail::class_of<T>::record);
  if constexpr (std::is_enum_v<T>) {
    if (!cls.is_valid()) return detail::enum_of<T>::python();
  }
  return cls;
}

template <typename T> bool handle_t<T>::check_(handle value) { return isinstance<T>(value); }
template <typename T> bool type_object_t<T>::check_(handle value) {
  handle own = ::FFI_HPY_BIND_NAMESPACE::type<T>();
  return own.is_valid() && type_object::check_(value) && issubclass(value, own);
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_FUNCTIONS_H_ */
