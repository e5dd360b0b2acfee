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
inline str type_name(handle type) { return steal<str>(detail::ask_python("class_name", type).release()); }
/** The type of C++. */
inline const std::type_info &type_info(handle type) {
  return *static_cast<const std::type_info *>(detail::bound_class(type).info);
}
/** The value of the class that supplement<T>() adds. */
template <typename T> T &type_supplement(handle type) {
  return *static_cast<T *>(detail::bound_class(type).supplement);
}
/** An entry of a class or of its bases, as it is: a descriptor, not the descriptor's value. Empty if there is none. */
inline object type_lookup(handle type, handle name) noexcept {
  try {
    object found = detail::ask_python("class_entry", type, name);
    return found.is_none() ? object() : object(found[0]);
  } catch (...) {
    return object();
  }
}
inline object type_lookup(handle type, const char *name) noexcept { return type_lookup(type, str(name)); }
/** The entries of a class without the entries of its bases. A change of the dict sets an attribute of the class. */
inline dict type_dict(handle type) { return steal<dict>(detail::ask_python("class_dict", type).release()); }
/** Makes a bound class constant: Python cannot set its attributes any more. False for another class. TypeError if a
 * bound base class is not constant. */
inline bool type_freeze(handle type) { return detail::int_of(detail::ask_python("freeze", type)) != 0; }
/** CPython's functions of a class do not exist on every Python: a method of the class does the same. */
template <typename Slot> void *type_get_slot(handle, Slot) {
  static_assert(!std::is_same_v<Slot, Slot>,
                "type_get_slot: use an attribute of the class, by type_lookup(type, name)");
  return nullptr;
}

/* ---- Objects ---- */

namespace detail {

inline ffi_hpy_instance &instance_of(handle value) {
#if defined(FFI_HPY_BIND_PY_OBJECT)
  if (is_traversed(value.ptr())) return *reinterpret_cast<ffi_hpy_instance *>(value.any().v_obj);
#endif
  ffi_hpy_instance *found = api->instance_of(&value.any());
  if (found == nullptr) throw builtin_exception("TypeError", "expected an object of a bound class");
  return *found;
}
/** The address of the value, or of the room for it. */
inline void *place_of(const ffi_hpy_instance &instance) {
  if (instance.value != nullptr) return instance.value;
  if (instance.holder != nullptr) return instance.holder; /* the value was destroyed */
  uintptr_t mask = instance.type->alignment - 1;
  return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(&instance + 1) + mask) & ~mask);
}
/** Whether the value is a part of another object, or shared with C++. */
inline bool has_owner(const ffi_hpy_instance &instance) {
  return instance.release == api->instance_release_whole || instance.release == delete_holder;
}
inline void require_no_owner(const ffi_hpy_instance &instance) {
  if (has_owner(instance)) throw builtin_exception("RuntimeError", "the value belongs to another object, or to C++");
}
/** Gives an object without a value the value that was constructed at its place. */
inline void set_value(ffi_hpy_instance *instance, void (*release)(ffi_hpy_instance *)) {
  void *place = place_of(*instance);
  if (place == instance->holder) {
    (void)take_object(api->instance_return(instance->type, place, release, nullptr));
  } else {
    instance->release = release;
    api->instance_ready(instance, place, 0);
  }
}
/** The release of a value whose type only its class knows. */
inline void delete_by_class(ffi_hpy_instance *self) {
  destroy_value(self);
  if (self->type->alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(self->value, std::align_val_t{self->type->alignment});
  } else {
    ::operator delete(self->value);
  }
}
/** Constructs the value of an object from another value, with a constructor of its class. */
template <typename Constructor>
void construct_from(handle to, handle from, Constructor ffi_hpy_class::*constructor, const char *refusal) {
  ffi_hpy_instance &instance = instance_of(to), &other = instance_of(from);
  if (&instance == &other) return;
  Constructor construct = instance.type->*constructor;
  if (other.value == nullptr || construct == nullptr || other.type != instance.type) {
    throw builtin_exception("RuntimeError", refusal);
  }
  bool has_value = instance.value != nullptr;
  if (has_value && instance.type->destroy != nullptr) instance.type->destroy(instance.value);
  construct(place_of(instance), other.value);
  if (!has_value) set_value(&instance, destroy_value);
}

} // namespace detail

/** Whether a value is an object of a bound class. */
inline bool inst_check(handle value) { return value.is_valid() && detail::api->instance_of(&value.any()) != nullptr; }
/** The name of the class, with the module. */
inline str inst_name(handle value) { return type_name(value.type()); }
/** Whether a class of Python derives from the bound class, and the object is one of that class. */
inline bool inst_python_derived(handle value) {
  int32_t index = detail::instance_of(value).type->type_index;
  return !detail::ask_python("class_of_index", detail::int_value(index)).is(value.type());
}
/** The attributes that Python has set; empty if the object cannot have any. */
inline dict inst_dict(handle value) noexcept {
  handle found = detail::guarded([&] { return detail::ask_python("instance_dict", value); });
  if (!found.is_valid()) python_error dropped;
  return steal<dict>(found.is_none() ? handle() : found);
}
/** The address of the value. */
template <typename T> T *inst_ptr(handle value) {
  const ffi_hpy_instance &instance = detail::instance_of(value);
  void *found = detail::api->instance_cast(&value.any(), &detail::class_of<T>::get());
  return static_cast<T *>(found != nullptr ? found : detail::place_of(instance));
}
/** Whether the object has a value, and whether it destroys the value. */
inline std::pair<bool, bool> inst_state(handle value) {
  const ffi_hpy_instance &instance = detail::instance_of(value);
  return {instance.value != nullptr,
          instance.value != nullptr && instance.release != nullptr && !detail::has_owner(instance)};
}
/** Whether the object has a value. */
inline bool inst_ready(handle value) { return inst_state(value).first; }
/** Sets whether the object has a value, and whether it destroys the value. */
inline void inst_set_state(handle value, bool ready, bool destruct) {
  ffi_hpy_instance &instance = detail::instance_of(value);
  if (inst_state(value) == std::make_pair(ready, ready && destruct)) return;
  detail::require_no_owner(instance);
  auto release = destruct ? detail::destroy_value : nullptr;
  if (!ready) {
    (void)detail::api->instance_take(&instance);
  } else if (instance.value == nullptr) {
    detail::set_value(&instance, release);
  } else {
    instance.release = release;
  }
}
/** The value of an object of inst_alloc is constructed. */
inline void inst_mark_ready(handle value) { inst_set_state(value, true, true); }

/** Makes an object with room for a value. Construct the value at inst_ptr, and call inst_mark_ready. */
inline object inst_alloc(handle type) { return detail::new_instance(detail::bound_class(type), true).unfinished(); }
/** Makes the value of an object zero bytes. */
inline void inst_zero(handle value) {
  ffi_hpy_instance &instance = detail::instance_of(value);
  std::memset(detail::place_of(instance), 0, instance.type->size);
  inst_mark_ready(value);
}
/** Makes an object whose value is zero bytes. */
inline object inst_alloc_zero(handle type) {
  object made = inst_alloc(type);
  inst_zero(made);
  return made;
}
/** Makes an object that refers to a value of C++, and keeps `parent` alive. */
inline object inst_reference(handle type, void *value, handle parent = handle()) {
  object made = detail::new_instance(detail::bound_class(type), false).finish(value, nullptr);
  detail::keep_alive_object(made, parent);
  return made;
}
/** Makes an object that owns a value which `new` has made. */
inline object inst_take_ownership(handle type, void *value) {
  return detail::new_instance(detail::bound_class(type), false).finish(value, detail::delete_by_class);
}
/** Destroys the value if the object owns it. The object has no value afterwards. */
inline void inst_destruct(handle value) {
  ffi_hpy_instance &instance = detail::instance_of(value);
  detail::require_no_owner(instance);
  bool ends = instance.release != nullptr;
  void *taken = detail::api->instance_take(&instance);
  if (ends && taken != nullptr && instance.type->destroy != nullptr) instance.type->destroy(taken);
}
/** Constructs the value of an object as a copy of another value. The object's old value is destroyed first. */
inline void inst_copy(handle to, handle from) {
  detail::construct_from(to, from, &ffi_hpy_class::copy, "the value cannot be copied");
}
/** Constructs the value of an object from another value, which is moved. The object's old value is destroyed first. */
inline void inst_move(handle to, handle from) {
  detail::construct_from(to, from, &ffi_hpy_class::move, "the value cannot be moved");
}
inline void inst_replace_copy(handle to, handle from) { inst_copy(to, from); }
inline void inst_replace_move(handle to, handle from) { inst_move(to, from); }

/** Lets the patient live at least as long as the nurse. RuntimeError if the nurse is not an object of a bound class and
 * does not accept weak references. */
inline void keep_alive_obj(handle nurse, handle patient) { detail::keep_alive_object(nurse, patient); }
/** Calls a function with an address when the nurse ends. */
inline void keep_alive_cb(handle nurse, void *payload, void (*callback)(void *) noexcept) {
  detail::keep_alive_object(nurse, capsule(payload, callback));
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_INSPECT_H_ */
