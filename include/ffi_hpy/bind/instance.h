/* instance.h - objects of bound classes as arguments and results. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_INSTANCE_H_
#define FFI_HPY_BIND_INSTANCE_H_

#include <ffi_hpy/bind/caster.h>
#include <ffi_hpy/bind/exception.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <typeinfo>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The bound class of T: of this library, or found in another one when it is first needed. */
template <typename T> struct class_of {
  static const ffi_hpy_class *find() {
    if (known == nullptr) known = api->class_find(typeid(T).name());
    return known;
  }
  static const ffi_hpy_class &get() {
    const ffi_hpy_class *found = find();
    if (found == nullptr) throw_unbound(typeid(T).name());
    return *found;
  }
  static inline const ffi_hpy_class *known = nullptr;

private:
  [[noreturn]] static FFI_HPY_COLD void throw_unbound(const char *name) {
    api->raise("TypeError", (std::string("the C++ class `") + name + "` is not bound").c_str());
    throw python_error();
  }
};

inline std::string key_of(const ffi_hpy_class *type, const char *cpp_name) {
  if (type == nullptr) return cpp_name;
  const TVMFFIByteArray &key = api->type_info(type->type_index)->type_key;
  return std::string(key.data, key.size);
}

/** The references that an object of a bound class owns, by its `release`. */
inline void destroy_value(ffi_hpy_instance *self) { self->type->destroy(self->value); }
template <typename T> void delete_value(ffi_hpy_instance *self) { delete static_cast<T *>(self->value); }
template <typename Holder> void delete_holder(ffi_hpy_instance *self) { delete static_cast<Holder *>(self->holder); }

/** An object under construction, which is released if the constructor of its value throws. */
class new_instance {
public:
  new_instance(const ffi_hpy_class &type, bool has_room) {
    check(api->instance_new(&type, has_room ? &room_ : nullptr, &made_));
    kept_ = owned(view_of(made_));
  }
  void *room() const { return room_; }
  /** The finished object. If is_known is given and another object has the value already, the result is that object,
   * *is_known is true, and the holder still belongs to the caller. */
  owned finish(void *value, void (*release)(ffi_hpy_instance *), void *holder = nullptr, bool *is_known = nullptr) {
    made_->release = release;
    made_->holder = holder;
    ffi_hpy_instance *known = api->instance_ready(made_, value, is_known != nullptr);
    if (is_known != nullptr) *is_known = known != nullptr;
    return known != nullptr ? owned(view_of(known)) : std::move(kept_);
  }

private:
  void *room_ = nullptr;
  ffi_hpy_instance *made_ = nullptr;
  owned kept_;
};

/** An object with a value that is constructed from arguments. */
template <typename T, typename... Args> owned make_instance(Args &&...args) {
  new_instance made(class_of<T>::get(), true);
  T *value;
  if constexpr (std::is_constructible_v<T, Args...>) {
    value = new (made.room()) T(std::forward<Args>(args)...);
  } else {
    value = new (made.room()) T{std::forward<Args>(args)...}; /* an aggregate */
  }
  return made.finish(value, destroy_value);
}

/** The known object of a value, if there is one. */
inline owned find_instance(const ffi_hpy_class &type, const void *value) {
  return owned(view_of(api->instance_find(&type, value)));
}

/** The bound class of the object that a pointer of a polymorphic class points at, and the address of the whole object;
 * the class of T if the other class is not bound. */
template <typename T> const ffi_hpy_class &dynamic_class(T *value, void **whole) {
  *whole = const_cast<void *>(static_cast<const void *>(value));
  if constexpr (std::is_polymorphic_v<T>) {
    const ffi_hpy_class *found = typeid(*value) == typeid(T) ? nullptr : api->class_find(typeid(*value).name());
    if (found != nullptr) {
      *whole = const_cast<void *>(dynamic_cast<const void *>(value));
      return *found;
    }
  }
  return class_of<T>::get();
}

[[noreturn]] FFI_HPY_COLD inline void throw_policy(const char *what, const std::string &name) {
  api->raise("RuntimeError", (name + ": " + what).c_str());
  throw python_error();
}

/** The object of a pointer. */
template <typename T> owned instance_of_pointer(T *value, rv_policy policy, const TVMFFIAny *parent) {
  using Plain = std::remove_cv_t<T>;
  if (value == nullptr) return owned();
  void *whole;
  const ffi_hpy_class &type = dynamic_class(value, &whole);
  if (policy != rv_policy::copy) {
    owned known = find_instance(type, whole);
    if (!known.is_none()) return known;
  }
  bool is_known;
  switch (policy) {
  case rv_policy::automatic:
  case rv_policy::take_ownership: {
    if constexpr (std::is_destructible_v<Plain>) {
      return new_instance(type, false).finish(whole, delete_value<Plain>, nullptr, &is_known);
    }
    break;
  }
  case rv_policy::automatic_reference:
  case rv_policy::reference: return new_instance(type, false).finish(whole, nullptr, nullptr, &is_known);
  case rv_policy::reference_internal: {
    if (parent == nullptr || !is_object(*parent)) break;
    new_instance made(type, false);
    owned kept(*parent);
    owned::add_ref(parent->v_obj);
    owned finished = made.finish(whole, api->instance_release_whole, parent->v_obj, &is_known);
    if (!is_known) (void)kept.release();
    return finished;
  }
  case rv_policy::copy:
    if constexpr (std::is_copy_constructible_v<Plain>) return make_instance<Plain>(*value);
    break;
  case rv_policy::move:
    if constexpr (std::is_move_constructible_v<Plain>)
      return make_instance<Plain>(std::move(const_cast<Plain &>(*value)));
    break;
  case rv_policy::none: break;
  }
  throw_policy("a result cannot be returned by this rv_policy", key_of(&type, ""));
}

} // namespace detail

/** Objects of bound classes, which are classes without another caster. */
template <typename T, typename> struct caster {
  static_assert(std::is_class_v<T> || std::is_union_v<T>, "this type cannot be a parameter or a result");

  T *value = nullptr;
  bool is_none = false;

  bool from(const TVMFFIAny &any, bool) {
    const ffi_hpy_class *type = detail::class_of<T>::find();
    is_none = any.type_index == kTVMFFINone;
    if (is_none || type == nullptr) return is_none;
    value = static_cast<T *>(detail::api->instance_cast(&any, type));
    return value != nullptr;
  }
  template <typename A> A get() {
    if constexpr (std::is_pointer_v<std::remove_reference_t<A>>) {
      return value;
    } else {
      if (is_none) throw detail::next_overload();
      if constexpr (std::is_lvalue_reference_v<A>) {
        return *value;
      } else if constexpr (std::is_rvalue_reference_v<A>) {
        return std::move(*value);
      } else {
        return A(*value);
      }
    }
  }
  /** Whether a parameter of type A refuses None. */
  template <typename A> static constexpr bool refuses_none = !std::is_pointer_v<std::remove_reference_t<A>>;

  static detail::owned to(T &&value, rv_policy, const TVMFFIAny *) {
    return detail::make_instance<T>(std::move(value));
  }
  static detail::owned to(T &value, rv_policy policy, const TVMFFIAny *parent) {
    return to(static_cast<const T &>(value), policy, parent);
  }
  static detail::owned to(const T &value, rv_policy policy, const TVMFFIAny *parent) {
    bool is_automatic = policy == rv_policy::automatic || policy == rv_policy::automatic_reference;
    return detail::instance_of_pointer(&value, is_automatic ? rv_policy::copy : policy, parent);
  }
  static detail::owned to(T *value, rv_policy policy, const TVMFFIAny *parent) {
    return detail::instance_of_pointer(value, policy, parent);
  }
  static detail::owned to(const T *value, rv_policy policy, const TVMFFIAny *parent) {
    return detail::instance_of_pointer(value, policy, parent);
  }
  static std::string name() { return detail::key_of(detail::class_of<T>::find(), typeid(T).name()); }
  static std::string schema() { return detail::named_schema(name()); }
};

/** The holders: an object that Python got from a unique_ptr owns it; one from a shared_ptr shares it. As an argument, a
 * shared_ptr keeps the object of Python alive. */
template <typename T> struct caster<std::unique_ptr<T>> {
  static detail::owned to(std::unique_ptr<T> value, rv_policy, const TVMFFIAny *parent) {
    detail::owned made = detail::instance_of_pointer(value.get(), rv_policy::take_ownership, parent);
    (void)value.release();
    return made;
  }
  static std::string name() { return caster<T>::name(); }
  static std::string schema() { return caster<T>::schema(); }
};

template <typename T> struct caster<std::shared_ptr<T>> : detail::value_caster<std::shared_ptr<T>> {
  bool from(const TVMFFIAny &any, bool convert) {
    caster<T> inner;
    if (!inner.from(any, convert)) return false;
    if (inner.is_none) return true;
    auto *object = reinterpret_cast<ffi_hpy_instance *>(any.v_obj);
    if (object->release == &detail::delete_holder<std::shared_ptr<T>>) {
      this->value = *static_cast<std::shared_ptr<T> *>(object->holder);
      return true;
    }
    detail::owned::add_ref(any.v_obj);
    this->value = std::shared_ptr<T>(inner.value, [kept = any.v_obj](T *) { detail::api->dec_ref(kept); });
    return true;
  }
  static detail::owned to(std::shared_ptr<T> value, rv_policy, const TVMFFIAny *) {
    if (value == nullptr) return detail::owned();
    void *whole;
    const ffi_hpy_class &type = detail::dynamic_class(value.get(), &whole);
    detail::owned known = detail::find_instance(type, whole);
    if (!known.is_none()) return known;
    detail::new_instance made(type, false);
    auto holder = std::make_unique<std::shared_ptr<T>>(std::move(value));
    bool is_known;
    detail::owned finished = made.finish(whole, detail::delete_holder<std::shared_ptr<T>>, holder.get(), &is_known);
    if (!is_known) (void)holder.release();
    return finished;
  }
  static std::string name() { return caster<T>::name(); }
  static std::string schema() { return caster<T>::schema(); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_INSTANCE_H_ */
