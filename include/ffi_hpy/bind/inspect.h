/* inspect.h - bound classes and their objects by hand: inst_* and type_*. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_INSPECT_H_
#define FFI_HPY_BIND_INSPECT_H_

#include <ffi_hpy/bind/class.h>

FFI_HPY_NAMESPACE_BEGIN

/* ---- Classes ---- */

/** Whether a class of Python is a bound class, or derives from one. */
inline bool type_check(handle type) { return detail::find_bound_class(type) != nullptr; }
/** The bytes of a value. */
inline size_t type_size(handle type) { return detail::bound_class(type).size; }
/** The alignment of a value. */
inline size_t type_align(handle type) { return detail::bound_class(type).alignment; }
/** The name, with the module. */
inline object type_name(handle type) { return detail::ask_python("class_name", type); }
/** The type of C++. */
inline const std::type_info &type_info(handle type) {
  return *static_cast<const std::type_info *>(detail::bound_class(type).info);
}
/** The value of the class that supplement<T>() adds. */
template <typename T> T &type_supplement(handle type) {
  return *static_cast<T *>(detail::bound_class(type).supplement);
}
/* ---- Objects ---- */

namespace detail {

inline ffi_hpy_instance &instance_of(handle value) {
  ffi_hpy_instance *found = api->instance_of(&value.any());
  if (found == nullptr) throw builtin_exception("TypeError", "expected an object of a bound class");
  return *found;
}
/** The room of an object that inst_alloc has made. */
inline void *room_of(const ffi_hpy_instance &instance) {
  uintptr_t mask = instance.type->alignment - 1;
  return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(&instance + 1) + mask) & ~mask);
}
inline void *address_of(const ffi_hpy_instance &instance) {
  return instance.value != nullptr ? instance.value : room_of(instance);
}
inline void require(bool is_possible, const char *what) {
  if (!is_possible) throw builtin_exception("RuntimeError", what);
}

} // namespace detail

/** Whether a value is an object of a bound class. */
inline bool inst_check(handle value) { return value.is_valid() && detail::api->instance_of(&value.any()) != nullptr; }
/** The address of the value. */
template <typename T> T *inst_ptr(handle value) {
  const ffi_hpy_instance &instance = detail::instance_of(value);
  void *found = detail::api->instance_cast(&value.any(), &detail::class_of<T>::get());
  return static_cast<T *>(found != nullptr ? found : detail::room_of(instance));
}
/** Whether the object has a value. */
inline bool inst_ready(handle value) { return detail::instance_of(value).value != nullptr; }
/** Whether the object has a value, and whether it ends the value. */
inline std::pair<bool, bool> inst_state(handle value) {
  const ffi_hpy_instance &instance = detail::instance_of(value);
  return {instance.value != nullptr,
          instance.release != nullptr && instance.release != detail::api->instance_release_whole};
}
/** Makes an object with room for a value. Construct the value at inst_ptr, and call inst_mark_ready. */
inline object inst_alloc(handle type) { return detail::new_instance(detail::bound_class(type), true).unfinished(); }
/** The value of an object of inst_alloc is constructed. */
inline void inst_mark_ready(handle value) {
  ffi_hpy_instance &instance = detail::instance_of(value);
  detail::require(instance.value == nullptr, "the object has a value already");
  instance.release = detail::destroy_value;
  detail::api->instance_ready(&instance, detail::room_of(instance), 0);
}
/** Makes an object whose value is zero bytes. */
inline object inst_alloc_zero(handle type) {
  object made = inst_alloc(type);
  ffi_hpy_instance &instance = detail::instance_of(made);
  std::memset(detail::room_of(instance), 0, instance.type->size);
  inst_mark_ready(made);
  return made;
}
namespace detail {

/** Constructs the value of an object of inst_alloc from another one, with a constructor of its class. */
template <typename Constructor>
void construct_from(handle to, handle from, Constructor ffi_hpy_class::*constructor, const char *refusal) {
  ffi_hpy_instance &instance = instance_of(to), &other = instance_of(from);
  Constructor construct = instance.type->*constructor;
  require(instance.value == nullptr && other.value != nullptr && construct != nullptr, refusal);
  construct(room_of(instance), other.value);
  inst_mark_ready(to);
}

} // namespace detail

/** Constructs the value of an object of inst_alloc as a copy of another one. */
inline void inst_copy(handle to, handle from) {
  detail::construct_from(to, from, &ffi_hpy_class::copy, "the value cannot be copied");
}
/** Constructs the value of an object of inst_alloc from another one, which is moved. */
inline void inst_move(handle to, handle from) {
  detail::construct_from(to, from, &ffi_hpy_class::move, "the value cannot be moved");
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_INSPECT_H_ */
