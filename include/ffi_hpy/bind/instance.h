/* instance.h - objects of bound classes as arguments and results. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_INSTANCE_H_
#define FFI_HPY_BIND_INSTANCE_H_

#include <ffi_hpy/bind/caster.h>
#include <ffi_hpy/bind/missing_header.h>

#include <atomic>
#include <new>
#include <typeinfo>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A way to make an object of a bound class from another value: an empty handle if the value does not fit. */
struct implicit_conversion {
  handle (*convert)(handle source);
  const implicit_conversion *next;
};

/** The name of a class in the core: equal in all libraries of a domain (FFI_HPY_BIND_DOMAIN, a text), unless the class
 * is in an unnamed namespace. */
FFI_HPY_NOINLINE inline std::string cpp_name_of(std::string name) {
#ifdef FFI_HPY_BIND_DOMAIN
  name += "@" FFI_HPY_BIND_DOMAIN;
#endif
  if (name.find("_GLOBAL__N_") != std::string::npos) {
    name += '@' + std::to_string(reinterpret_cast<uintptr_t>(&api)); /* differs between libraries */
  }
  return name;
}
inline std::string cpp_name_of(const std::type_info &type) { return cpp_name_of(type.name()); }
inline const ffi_hpy_class *find_class(const std::type_info &type) { return in_module->find_class_of(type); }
FFI_HPY_NOINLINE inline const ffi_hpy_class *find_class_of_in_module(const std::type_info &type) {
  return api->class_find(cpp_name_of(type).c_str());
}

/** A bound class, as this library knows it. */
struct class_record {
  const std::type_info *info;
  std::atomic<const ffi_hpy_class *> known; /* stored with release, loaded with acquire */
  const implicit_conversion *conversions;
  std::atomic<TVMFFIObject *> python{nullptr}; /* the class of Python, which is never released; NULL: not asked for */
};

/** The bound class of a record: of this library, or found in another one when it is first needed; NULL if there is
 * none. */
inline const ffi_hpy_class *find_class(class_record *record) noexcept { return in_module->find_class(record); }
FFI_HPY_NOINLINE inline const ffi_hpy_class *find_class_in_module(class_record *record) noexcept {
  try {
    const ffi_hpy_class *known = record->known.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    known = find_class(*record->info); /* other threads may look, too, and find the same class */
    if (known != nullptr) record->known.store(known, std::memory_order_release);
    return known;
  } catch (...) { /* no memory for the name */
    return nullptr;
  }
}
inline const ffi_hpy_class &get_class(class_record *record) { return in_module->get_class(record); }
FFI_HPY_NOINLINE inline const ffi_hpy_class &get_class_in_module(class_record *record) {
  const ffi_hpy_class *found = find_class(record);
  if (found == nullptr) {
    api->raise("TypeError", refused_error::text_of(record->info->name()).c_str());
    throw python_error();
  }
  return *found;
}

/** The bound class of T. */
template <typename T> struct class_of {
  static inline class_record record{&typeid(T), nullptr, nullptr};
  static const ffi_hpy_class *find() { return find_class(&record); }
  static const ffi_hpy_class &get() {
    const ffi_hpy_class *known = record.known.load(std::memory_order_acquire);
    return known != nullptr ? *known : get_class(&record);
  }
};

inline std::string key_of(const ffi_hpy_class *type, const char *cpp_name) {
  if (type == nullptr) return cpp_name;
  const TVMFFIByteArray &key = api->type_info(type->type_index)->type_key;
  return std::string(key.data, key.size);
}

/** Warns of a mistake: `text` follows the namespace, and the name of a class follows it. An error is not pending
 * afterwards. */
FFI_HPY_COLD inline void warn_of_instance(const char *text, const ffi_hpy_class *type) noexcept {
  handle done =
      guarded([&] { return ask_python("warn", str_of(joined({FFI_HPY_BIND_TEXT, text, key_of(type, ""), "'!"}))); });
  if (!done.is_valid()) python_error dropped;
}
/** Whether an object is one of a class, with or without a value. */
inline bool is_of_class(const ffi_hpy_instance &instance, const ffi_hpy_class *type) {
  const ffi_hpy_class *each = instance.type;
  while (each != nullptr && each->type_index != type->type_index) each = each->base;
  return each != nullptr;
}
/** Whether a value is an object of the bound class of a record. */
FFI_HPY_NOINLINE inline bool is_instance(handle value, class_record *record) {
  const ffi_hpy_instance *found = value.is_valid() ? api->instance_of(&value.any()) : nullptr;
  const ffi_hpy_class *type = found != nullptr ? find_class(record) : nullptr;
  return type != nullptr && is_of_class(*found, type);
}
/** Warns of an argument of a class that has no value: its constructor did not run, or C++ has taken the value. Returns
 * whether the argument is such an object. */
FFI_HPY_COLD inline bool warn_without_value(handle source, const ffi_hpy_class *type) noexcept {
  const ffi_hpy_instance *found = api->instance_of(&source.any());
  if (found == nullptr || found->value != nullptr || !is_of_class(*found, type)) return false;
  bool is_taken = found->holder != nullptr;
  warn_of_instance(is_taken ? ": attempted to access a relinquished instance of type '"
                            : ": attempted to access an uninitialized instance of type '",
                   found->type);
  return true;
}

/** The references that an object of a bound class owns, by its `release`. */
inline void destroy_value(ffi_hpy_instance *self) {
  if (self->type->destroy != nullptr) self->type->destroy(self->value);
}
/** The value is a trampoline, whose destructor need not be virtual. */
template <typename T, typename Alias> void destroy_alias(ffi_hpy_instance *self) {
  ((Alias *)static_cast<T *>(self->value))->~Alias(); /* the base may be private */
}
/** A smart pointer that owns the value beside C++. */
struct shared_holder {
  virtual ~shared_holder() = default;
  /** Visits the reference to the value, for the collector. */
  virtual void visit(const void *visitor) const = 0;
};
inline void delete_holder(ffi_hpy_instance *self) { delete static_cast<shared_holder *>(self->holder); }
/** Whether an object alone owns its value; unknown owners, of other libraries, do not. */
FFI_HPY_NOINLINE inline bool owns_value(const ffi_hpy_instance *self) {
  if (self->release == &destroy_value) return true;
  for (const ffi_hpy_class *type = self->type; type != nullptr; type = type->base) {
    if (self->release == type->delete_value) return true;
  }
  return false;
}
/** Visits the references of the value of an object, if the object owns the value, perhaps with others. Any other
 * function that destroys values belongs to a trampoline. */
template <void (*DestroyAlias)(ffi_hpy_instance *)>
void visit_value(const ffi_hpy_instance *self, const void *visitor) {
  if (self->release == &delete_holder) {
    static_cast<const shared_holder *>(self->holder)->visit(visitor);
  } else if ((DestroyAlias != nullptr && self->release == DestroyAlias) || owns_value(self)) {
    api->value_visit(self->type, self->value, visitor);
  }
}

/** Whether the values of a class, or of a base of it, count their references themselves. */
inline bool counts_itself(const ffi_hpy_class *type) {
  while (type != nullptr && type->set_self == nullptr) type = type->base;
  return type != nullptr;
}
/** Tells such a value that an object owns it. */
FFI_HPY_NOINLINE inline void tell_value(const ffi_hpy_class *type, void *value, ffi_hpy_instance *self) {
  for (; type->set_self == nullptr; type = type->base) {
    if (type->to_base != nullptr) value = type->to_base(value);
  }
  type->set_self(type, value, &self->header);
}

/** An object under construction, which is released if the constructor of its value throws. */
class new_instance {
public:
  new_instance(const ffi_hpy_class &type, bool has_room) {
    check(api->instance_new(&type, has_room ? &room_ : nullptr, &made_));
  }
  new_instance(const new_instance &) = delete;
  new_instance &operator=(const new_instance &) = delete;
  ~new_instance() {
    if (made_ != nullptr) api->dec_ref(made_);
  }
  void *room() const { return room_; }
  /** The object with its room as the value, for the function that constructs the value. */
  TVMFFIAny open() {
    made_->value = room_;
    return view_of(made_);
  }
  void close() { made_->value = nullptr; }
  /** The object without a value. */
  object unfinished() { return take_object(std::exchange(made_, nullptr)); }
  /** The finished object. If is_known is given and another object has the value already, the result is that object,
   * *is_known is true, and the holder still belongs to the caller. */
  object finish(void *value, void (*release)(ffi_hpy_instance *), void *holder = nullptr, bool *is_known = nullptr) {
    made_->release = release;
    made_->holder = holder;
    ffi_hpy_instance *known = api->instance_ready(made_, value, is_known != nullptr);
    if (is_known != nullptr) *is_known = known != nullptr;
    if (known == nullptr && release != nullptr && counts_itself(made_->type)) tell_value(made_->type, value, made_);
    return known != nullptr ? take_object(known) : unfinished();
  }

private:
  void *room_ = nullptr;
  ffi_hpy_instance *made_ = nullptr;
};

/** A value that is constructed from arguments. */
template <typename T, typename... Args> T *construct(void *room, Args &&...args) {
  if constexpr (std::is_constructible_v<T, Args...>) {
    return new (room) T(std::forward<Args>(args)...);
  } else {
    return new (room) T{std::forward<Args>(args)...}; /* an aggregate */
  }
}
/** A new object of a bound class, as the result of a constructor. */
struct constructed {
  handle made;
};
struct instance_room {
  ffi_hpy_instance *made;
  void *room;
};
/** Makes an object with room for its value. These are functions for all classes, because compilers take long for code
 * that each constructor repeats. */
FFI_HPY_NOINLINE inline instance_room begin_instance(class_record *record) {
  const ffi_hpy_class *known = record->known.load(std::memory_order_acquire);
  if (known == nullptr) known = &get_class(record);
  instance_room begun{};
  check(api->instance_new(known, &begun.room, &begun.made));
  return begun;
}
/** The object once its value is constructed. */
FFI_HPY_NOINLINE inline constructed end_instance(ffi_hpy_instance *made, void *value,
                                                 void (*release)(ffi_hpy_instance *)) noexcept {
  made->release = release;
  (void)api->instance_ready(made, value, 0);
  if (counts_itself(made->type)) tell_value(made->type, value, made);
  return {handle(view_of(made))};
}
/** Releases an object if the constructor of its value throws. */
struct unfinished_instance {
  ffi_hpy_instance *made;
  ~unfinished_instance() {
    if (made != nullptr) api->dec_ref(made);
  }
};
/** A new object with a Value that is constructed from arguments. */
template <typename T, typename Value, typename... Args>
constructed make_value(void (*release)(ffi_hpy_instance *), Args &&...args) {
  instance_room begun = begin_instance(&class_of<T>::record);
  unfinished_instance unfinished{begun.made};
  /* a C-style cast, as the base may be private */
  T *value = (T *)construct<Value>(begun.room, std::forward<Args>(args)...);
  unfinished.made = nullptr;
  return end_instance(begun.made, value, release);
}
/** An object with a value that is constructed from arguments. */
template <typename T, typename... Args> constructed make_instance(Args &&...args) {
  return make_value<T, T>(destroy_value, std::forward<Args>(args)...);
}
/** An object whose value is a trampoline of the class. */
template <typename T, typename Alias, typename... Args> constructed make_alias(Args &&...args) {
  return make_value<T, Alias>(destroy_alias<T, Alias>, std::forward<Args>(args)...);
}
template <> struct type_caster<constructed> {
  static constexpr auto Name = const_name("object");
  static handle from_cpp(constructed source, rv_policy, cleanup_list *) noexcept { return source.made; }
};

/** The known object of a value; empty if there is none. */
inline object find_instance(const ffi_hpy_class &type, const void *value) {
  ffi_hpy_instance *found = api->instance_find(&type, value);
  return found != nullptr ? take_object(found) : object();
}

/** The class of the object that a pointer points at; for a polymorphic object, its most derived class. Authors
 * specialise this for classes that store the class of an object in another way. */
template <typename T, typename = int> struct type_hook {
  static constexpr bool is_general = true; /**< not a specialisation */
  static const std::type_info *get([[maybe_unused]] const T *value) {
    if constexpr (std::is_polymorphic_v<T>) {
      return &typeid(*value);
    } else {
      return &typeid(T);
    }
  }
};

/** The bound class of the object that a pointer points at, and the address of the whole object; the class of T if the
 * other class is not bound. */
template <typename T> const ffi_hpy_class &dynamic_class(T *value, void **whole) {
  using Plain = std::remove_cv_t<T>;
  *whole = const_cast<Plain *>(value);
  const std::type_info &info = *type_hook<Plain>::get(const_cast<Plain *>(value));
  const ffi_hpy_class *found = info == typeid(T) ? nullptr : find_class(info);
  if (found == nullptr) return class_of<T>::get();
  if constexpr (std::is_polymorphic_v<T>) *whole = const_cast<void *>(dynamic_cast<const void *>(value));
  return *found;
}

[[noreturn]] FFI_HPY_COLD inline void throw_policy(const ffi_hpy_class &type) {
  api->raise("TypeError", refused_error::text_by_policy(key_of(&type, "")).c_str());
  throw python_error();
}

/** Whether a value can be copied. std::is_copy_constructible is always true for a container of the standard library. An
 * author may specialize this for a type whose copy constructor cannot be compiled. */
template <typename T, typename = int> struct is_copy_constructible : std::is_copy_constructible<T> {};
template <typename A, typename B>
struct is_copy_constructible<std::pair<A, B>>
    : std::bool_constant<is_copy_constructible<A>::value && is_copy_constructible<B>::value> {};
template <typename T>
struct is_copy_constructible<T, std::enable_if_t<std::is_same_v<typename T::value_type &, typename T::reference>, int>>
    : std::bool_constant<std::is_copy_constructible_v<T> && (std::is_same_v<T, typename T::value_type> ||
                                                             is_copy_constructible<typename T::value_type>::value)> {};
template <typename T> inline constexpr bool is_copy_constructible_v = is_copy_constructible<T>::value;

/** An object with a copy of a value, or with a value that is moved out of it. */
FFI_HPY_NOINLINE inline object copied_instance(const ffi_hpy_class &type, void *value, bool is_moved) {
  if (is_moved ? type.move == nullptr : type.copy == nullptr) throw_policy(type);
  new_instance made(type, true);
  if (is_moved) {
    type.move(made.room(), value);
  } else {
    type.copy(made.room(), value);
  }
  return made.finish(made.room(), destroy_value);
}

/** The object of a pointer: the object that Python has already, or a new one. `end`: the release of an object that owns
 * the value; NULL if that is not possible. */
FFI_HPY_NOINLINE inline object pointed_instance(const ffi_hpy_class &type, void *whole, void *value,
                                                void (*end)(ffi_hpy_instance *), rv_policy policy, handle parent) {
  object known = find_instance(type, whole);
  if (known.is_valid()) return known;
  if (policy != rv_policy::none && end != nullptr && counts_itself(&type)) policy = rv_policy::take_ownership;
  bool is_known;
  switch (policy) {
  case rv_policy::automatic:
  case rv_policy::take_ownership:
    if (end != nullptr) return new_instance(type, false).finish(whole, end, value, &is_known);
    break;
  case rv_policy::automatic_reference:
  case rv_policy::reference: return new_instance(type, false).finish(whole, nullptr, nullptr, &is_known);
  case rv_policy::reference_internal: {
    if (!is_object(parent.any())) break;
    new_instance made(type, false);
    object kept = borrow(parent);
    object finished = made.finish(whole, api->instance_release_whole, parent.any().v_obj, &is_known);
    if (!is_known) (void)kept.release();
    return finished;
  }
  default: break;
  }
  throw_policy(type);
}

/** Whether a class derives from std::enable_shared_from_this. */
template <typename T, typename = void> inline constexpr bool has_shared_from_this_v = false;
template <typename T>
inline constexpr bool has_shared_from_this_v<T, std::void_t<decltype(std::declval<T &>().weak_from_this())>> = true;

/** A std::shared_ptr that an object of Python has. */
template <typename Pointer> struct shared_pointer final : shared_holder {
  Pointer pointer;
  explicit shared_pointer(Pointer &&given) : pointer(std::move(given)) {}
  void visit(const void *visitor) const override; /* in references.h */
};
/** The deleter of a std::shared_ptr to the value of an object: it owns the object. */
struct object_owner {
  object kept;
  void operator()(const void *) { kept.reset(); }
};
/** The object of a value that C++ shares by a std::shared_ptr. */
template <typename Pointer> object shared_instance(Pointer source) {
  void *whole;
  const ffi_hpy_class &type = dynamic_class(source.get(), &whole);
  object known = find_instance(type, whole);
  if (known.is_valid()) return known;
  new_instance made(type, false);
  struct owner {
    shared_holder *holder;
    ~owner() { delete holder; }
  } owned{new shared_pointer<Pointer>(std::move(source))};
  bool is_known;
  object finished = made.finish(whole, delete_holder, owned.holder, &is_known);
  if (!is_known) owned.holder = nullptr;
  return finished;
}
/** A std::shared_ptr to a T that shares ownership with another std::shared_ptr. The files that have one include its
 * header. */
template <template <typename> class Pointer, typename Owned, typename T>
Pointer<T> aliased(const Pointer<Owned> &owner, T *value) {
  return Pointer<T>(owner, value);
}

/** The forms of a result of a bound class. */
enum class result_form { pointer, reference, value };

/** The object of a result. All classes share this function, because compilers take long for code that each result
 * repeats. Without `find` the value is the whole object. */
FFI_HPY_NOINLINE inline handle result_instance_in_module(class_record *record, const void *result, result_form form,
                                                         rv_policy policy, const cleanup_list *cleanup,
                                                         find_whole find) noexcept {
  bool is_automatic = policy == rv_policy::automatic || policy == rv_policy::automatic_reference;
  bool is_reference = policy == rv_policy::reference || policy == rv_policy::reference_internal;
  if (form == result_form::value && (is_automatic || is_reference)) policy = rv_policy::move;
  if (form == result_form::reference && is_automatic) policy = rv_policy::copy;
  auto *value = const_cast<void *>(result);
  return guarded([&] {
    if (value == nullptr) return take(none_value());
    bool is_copied = policy == rv_policy::copy || policy == rv_policy::move;
    void *whole = value;
    const ffi_hpy_class *type = nullptr;
    if (find != nullptr && !(is_copied && form == result_form::value)) {
      object owned = find(value, is_copied ? rv_policy::none : policy, &whole, &type);
      if (owned.is_valid()) return owned;
    } else {
      type = &get_class(record);
    }
    if (is_copied) return copied_instance(*type, whole, policy == rv_policy::move);
    const ffi_hpy_class *own = find_class(record); /* this class deletes its pointers; `type` may be another */
    return pointed_instance(*type, whole, value, own != nullptr ? own->delete_value : nullptr, policy,
                            cleanup != nullptr ? cleanup->self() : handle());
  });
}
/** Whether a T is always a whole object, which no std::shared_ptr is known to own. */
template <typename T, typename = void> inline constexpr bool is_whole_v = false;
template <typename T>
inline constexpr bool is_whole_v<T, std::void_t<decltype(type_hook<T>::is_general)>> =
    !std::is_polymorphic_v<T> && !has_shared_from_this_v<T>;
template <typename T>
object find_whole_of(void *part, [[maybe_unused]] rv_policy policy, void **whole, const ffi_hpy_class **type) {
  T *value = static_cast<T *>(part);
  if constexpr (has_shared_from_this_v<T>) {
    auto owner = value->weak_from_this().lock();
    if (owner != nullptr && policy != rv_policy::none) return shared_instance(aliased(owner, value));
  }
  *type = &dynamic_class(value, whole);
  return {};
}
/** The object of a result. */
template <typename T>
handle instance_of_result(const T *value, result_form form, rv_policy policy, const cleanup_list *cleanup) noexcept {
  find_whole find = nullptr;
  if constexpr (!is_whole_v<T>) find = find_whole_of<T>;
  return in_module->result_instance(&class_of<T>::record, value, form, policy, cleanup, find);
}

/** The value of an argument that is an object of another class, or of a class that was not known yet; null if there is
 * none, as in None. */
FFI_HPY_NOINLINE inline void *load_other_in_module(class_record *record, const TVMFFIAny *any, uint32_t flags,
                                                   cleanup_list *cleanup) noexcept {
  handle source(*any);
  const ffi_hpy_class *type = source.is_none() ? nullptr : find_class(record);
  if (type == nullptr) return nullptr;
  void *value = api->instance_cast(&source.any(), type);
  if (value != nullptr) return value;
  /* A conversion would read the value again: a container is converted from any iterable. */
  if (warn_without_value(source, type)) return nullptr;
  if ((flags & cast_flags::convert) == 0 || cleanup == nullptr) return nullptr;
  for (const implicit_conversion *each = record->conversions; each != nullptr; each = each->next) {
    handle made = each->convert(source);
    if (!made.is_valid()) continue;
    cleanup->append(made); /* it lives until the function returns */
    value = api->instance_cast(&made.any(), type);
    if (value != nullptr) return value;
  }
  return nullptr;
}

/** The value of an argument; null if there is none. This is one function for all classes: nearly every argument is an
 * object of exactly the class, and thunks stay short. */
FFI_HPY_NOINLINE inline void *load_value(class_record *record, const TVMFFIAny *any, uint32_t flags,
                                         cleanup_list *cleanup) noexcept {
  const ffi_hpy_class *known = record->known.load(std::memory_order_acquire);
  if (known != nullptr && any->type_index == known->type_index) {
    const auto *object = reinterpret_cast<const ffi_hpy_instance *>(any->v_obj);
    if (object->type == known && object->value != nullptr) return object->value;
  }
  return in_module->load_other(record, any, flags, cleanup);
}

/** The casters of bound classes. */
struct class_caster_tag : native_caster {};

/** The caster of a bound class. */
template <typename T> struct type_caster_base : class_caster_tag {
  static_assert(std::is_class_v<T> || std::is_union_v<T> || std::is_enum_v<T>,
                "this type cannot be a parameter or a result");

  using Value = T;
  static constexpr auto Name = const_name<T>();
  template <typename T_> using Cast = precise_cast_t<T_>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    return load<true>(&source.any(), flags, cleanup);
  }
  /** The argument is read where it is. Without AcceptsNone None does not fit. */
  template <bool AcceptsNone> bool load(const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept {
    value = static_cast<T *>(load_value(&class_of<T>::record, any, flags, cleanup));
    if constexpr (!AcceptsNone) return value != nullptr;
    return value != nullptr || (any->type_index == kTVMFFINone && (flags & cast_flags::accepts_none) != 0);
  }
  template <typename T_> bool can_cast() const {
    return std::is_pointer_v<std::remove_reference_t<T_>> || value != nullptr;
  }
  template <typename T_> static handle from_cpp(T_ &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    if constexpr (std::is_pointer_v<std::remove_reference_t<T_>>) {
      return instance_of_result<T>(source, result_form::pointer, policy, cleanup);
    } else {
      constexpr result_form form = std::is_lvalue_reference_v<T_> ? result_form::reference : result_form::value;
      return instance_of_result<T>(__builtin_addressof(static_cast<const T &>(source)), form, policy, cleanup);
    }
  }
  explicit operator T *() { return value; }
  explicit operator T &() {
    if (value == nullptr) throw_next_overload();
    return *value;
  }
  explicit operator T &&() { return std::move(operator T &()); }

  T *value = nullptr;
};

/** Whether a caster reads a bound class by the function of type_caster_base. */
template <typename Caster, typename = void> inline constexpr bool loads_class_v = false;
template <typename Caster>
inline constexpr bool loads_class_v<Caster, std::void_t<typename Caster::Value, decltype(&Caster::from_python)>> =
    std::is_same_v<decltype(&Caster::from_python),
                   bool (type_caster_base<typename Caster::Value>::*)(handle, uint32_t, cleanup_list *) noexcept>;

/** Types of the standard library that are bound classes: stl/bind_vector.h and stl/bind_map.h add theirs. */
template <typename T> struct is_bound_container : std::false_type {};

/** A class without another caster is a bound class. With FFI_HPY_BIND_LATE_TYPES a type of the standard library may be
 * one, too: then a call that needs it is a TypeError. */
#if !defined(FFI_HPY_BIND_LATE_TYPES)
#define FFI_HPY_BIND_LATE_TYPES 0
#endif
template <typename T, typename> struct type_caster : type_caster_base<T> {
  static_assert(check_header<T, !FFI_HPY_BIND_LATE_TYPES && !is_bound_container<T>::value>());
};

} // namespace detail

FFI_HPY_NAMESPACE_END

/** Makes a type of the standard library a bound class, also where a header of stl/ would copy it. At namespace level,
 * before the first use. */
#define FFI_HPY_MAKE_OPAQUE(...)                                  \
  template <>                                                     \
  struct FFI_HPY_BIND_NAMESPACE::detail::type_caster<__VA_ARGS__> \
      : ::FFI_HPY_BIND_NAMESPACE::detail::type_caster_base<__VA_ARGS__> {};

#endif /* FFI_HPY_BIND_INSTANCE_H_ */
