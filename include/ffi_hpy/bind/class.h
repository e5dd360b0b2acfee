/* class.h - classes and exceptions of Python for C++. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_CLASS_H_
#define FFI_HPY_BIND_CLASS_H_

#include <ffi_hpy/bind/define.h>
#include <ffi_hpy/bind/references.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The further arguments of class_. */
struct class_about {
  const char *doc = "";
  const char *signature = nullptr;
  int64_t flags = 0;
  handle base; /* the class of the base class, if it is an argument */
  void *supplement = nullptr;
  void (*set_self)(const ffi_hpy_class *type, void *value, TVMFFIObject *self) = nullptr;
  void (*set_self_function)() = nullptr;
};

} // namespace detail

/** Instances of the class have attributes that Python sets. */
struct dynamic_attr {};
/** Python can have weak references to instances of the class. */
struct is_weak_referenceable {};
/** Python cannot derive classes from the class. */
struct is_final {};
/** The class is generic: `Class[int]` is a types.GenericAlias. */
struct is_generic {};
/** The objects of the class are reused. All objects come from a pool of the core already, so it changes nothing. */
struct pooled {
  constexpr explicit pooled(size_t = 0) {}
};
#if defined(FFI_HPY_BIND_PY_OBJECT)
/** Functions of a class in CPython's form, which type_slots.h makes methods and steps of the garbage collector. */
struct type_slots {
  const PyType_Slot *slots;
  constexpr explicit type_slots(const PyType_Slot *first) : slots(first) {}
};
#else
/** CPython's functions of a class do not exist on every Python. */
struct type_slots {
  template <typename Slot> explicit type_slots(const Slot *) {
    static_assert(!std::is_same_v<Slot, Slot>,
                  "type_slots: define methods such as __len__; cycles are found without Py_tp_traverse");
  }
};
#endif
/** The class has a value of this type, which type_supplement<T>(cls) returns. The value lives as long as the
 * process. */
template <typename T> struct supplement {};
/** The destructors of objects are not called. */
struct never_destruct {};
/** Objects of the class count their references themselves (ffi_hpy/intrusive/counter.h): `function` tells an object
 * that a Python object owns it. */
template <typename T> struct intrusive_ptr {
  void (*set_self_py)(T *, detail::counting_object *) noexcept;
  constexpr intrusive_ptr(void (*function)(T *, detail::counting_object *) noexcept) : set_self_py(function) {}
};

namespace detail {
inline void apply(class_about *about, const char *doc) { about->doc = doc; }
inline void apply(class_about *about, dynamic_attr) { about->flags |= 1; }
inline void apply(class_about *about, is_weak_referenceable) { about->flags |= 2; }
inline void apply(class_about *about, is_final) { about->flags |= 4; }
inline void apply(class_about *about, is_generic) { about->flags |= 8; }
inline void apply(class_about *, pooled) {}
inline void apply(class_about *about, sig text) { about->signature = text.value; }
inline void apply(class_about *, never_destruct) {}
inline void apply(class_about *, type_slots) {}
template <typename T> void apply(class_about *about, supplement<T>) { about->supplement = new T{}; }
inline void apply(class_about *about, handle base) { about->base = base; }
template <typename T> void apply(class_about *about, intrusive_ptr<T> counted) {
  about->set_self_function = reinterpret_cast<void (*)()>(counted.set_self_py);
  about->set_self = [](const ffi_hpy_class *type, void *value, TVMFFIObject *self) {
    reinterpret_cast<void (*)(T *, counting_object *)>(type->set_self_function)(
        static_cast<T *>(value), reinterpret_cast<counting_object *>(self));
  };
}
/** A further argument of a constructor as one of the function that returns the object, which has no parameter for it:
 * keep_alive counts the object as 1, as in a method. */
template <typename T> constexpr const T &in_constructor(const T &extra) { return extra; }
template <size_t Nurse, size_t Patient>
constexpr keep_alive<Nurse - (Nurse != 0), Patient - (Patient != 0)> in_constructor(keep_alive<Nurse, Patient>) {
  return {};
}
inline const class_about no_about;
inline const class_about &about_of() { return no_about; }
template <typename... Extra> class_about about_of(const Extra &...extra) {
  class_about about;
  (apply(&about, extra), ...);
  return about;
}
inline void apply_doc(class_about *about, const char *doc) { about->doc = doc; }
template <typename T> void apply_doc(class_about *, const T &) {}
} // namespace detail

/** A further argument of class_::def that adds several members: derive from this class, and write `execute(cl,
 * extra...)`. */
template <typename Derived> struct def_visitor {};

/** A further argument of a property that counts for the function that reads it only. */
template <typename T> struct for_getter {
  T value;
  for_getter(const T &given) : value(given) {}
};
/** A further argument of a property that counts for the function that sets it only. */
template <typename T> struct for_setter {
  T value;
  for_setter(const T &given) : value(given) {}
};
template <typename T> for_getter(T) -> for_getter<std::decay_t<T>>;
template <typename T> for_setter(T) -> for_setter<std::decay_t<T>>;

namespace detail {

/** The further arguments of a property for one of its functions. A parameter is for the function that sets the
 * property, and a policy for the function that reads it. */
struct no_extra {};
template <typename Target> void apply(Target *, no_extra) {}
template <typename T> auto extra_of_getter(const T &extra) {
  if constexpr (is_param_v<T>) {
    return no_extra();
  } else {
    return extra;
  }
}
template <typename T> const T &extra_of_getter(const for_getter<T> &extra) { return extra.value; }
template <typename T> no_extra extra_of_getter(const for_setter<T> &) { return {}; }
template <typename T> auto extra_of_setter(const T &extra) {
  if constexpr (std::is_same_v<T, rv_policy>) {
    return no_extra();
  } else {
    return extra;
  }
}
template <typename T> const T &extra_of_setter(const for_setter<T> &extra) { return extra.value; }
template <typename T> no_extra extra_of_setter(const for_getter<T> &) { return {}; }

/** The function that reads a property which can only be set. */
[[noreturn]] FFI_HPY_COLD inline object throw_unreadable(handle) {
  throw attribute_error("the property cannot be read");
}
/** The function that reads a property: the author's, or one that throws if the author's is null. */
template <typename Get> decltype(auto) reader_or_error(Get &&get) {
  if constexpr (std::is_same_v<std::decay_t<Get>, std::nullptr_t>) {
    return &throw_unreadable;
  } else {
    return std::forward<Get>(get);
  }
}

/** Whether T(args...) or, for an aggregate, T{args...} is possible; the destructor may be private. */
template <typename T, typename... Args>
auto is_makeable(int) -> decltype(::new (nullptr) T(std::declval<Args>()...), std::true_type());
template <typename T, typename... Args>
auto is_makeable(long) -> decltype(::new (nullptr) T{std::declval<Args>()...}, std::true_type());
template <typename T, typename... Args> std::false_type is_makeable(...);
template <typename T, typename... Args>
inline constexpr bool is_makeable_v = decltype(is_makeable<T, Args...>(0))::value;
} // namespace detail

/** A constructor: init<int, float>(). */
template <typename... Args> struct init : def_visitor<init<Args...>> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    using T = typename Class::Type;
    using Alias = typename Class::Alias;
    static_assert(detail::is_makeable_v<Alias, Args...>,
                  "init<...>: the class has no public constructor with these parameters, or it is abstract");
    if constexpr (detail::is_makeable_v<Alias, Args...>) {
      cl.def_constructor(
          [](Args... args) {
            if constexpr (std::is_same_v<T, Alias>) {
              return detail::make_instance<T>(static_cast<Args &&>(args)...);
            } else {
              return detail::make_alias<T, Alias>(static_cast<Args &&>(args)...);
            }
          },
          extra...);
    }
  }
};

/** A constructor that is a function: it returns the object, which may be known already. */
template <typename F> struct new_ : def_visitor<new_<F>> {
  F f;
  explicit new_(F function) : f(std::move(function)) {}
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    detail::ask_python("new", cl, cl.def_constructor(f, rv_policy::automatic, extra...).constructor());
  }
};
template <typename F> new_(F) -> new_<F>;

/** One of the overloads of a function: overload_cast<int>(&f), or overload_cast<int>(&T::f, const_). */
template <typename... Args> struct overload_cast_t {
  template <typename R> constexpr auto operator()(R (*f)(Args...)) const { return f; }
  template <typename R, typename C> constexpr auto operator()(R (C::*f)(Args...), std::false_type = {}) const {
    return f;
  }
  template <typename R, typename C> constexpr auto operator()(R (C::*f)(Args...) const, std::true_type) const {
    return f;
  }
};
template <typename... Args> inline constexpr overload_cast_t<Args...> overload_cast{};
inline constexpr std::true_type const_{};

/** A constructor of one argument that also converts arguments of functions. */
template <typename Arg> struct init_implicit : def_visitor<init_implicit<Arg>> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const;
};

namespace detail {

/** Lets classes of Python override functions of a class by its trampoline; trampoline.h defines it. */
template <typename T, typename Alias> void define_trampoline(handle cls);
template <typename T> struct base_methods;
/** A copy of a text that a member refers to: it lives as long as the object. */
inline const char *copy_for(handle owner, std::string_view text) {
  auto *copy = new std::string(text);
  keep_alive_object(owner, capsule(copy, [](void *made) noexcept { delete static_cast<std::string *>(made); }));
  return copy->c_str();
}
inline std::string_view kept_text(handle owner, std::string_view text) { return {copy_for(owner, text), text.size()}; }
inline const char *kept_text(handle owner, const char *text) { return text == nullptr ? text : copy_for(owner, text); }
/** A text for the life of the process. */
inline const char *lasting(const char *text) {
  size_t n_bytes = std::strlen(text) + 1;
  return static_cast<const char *>(std::memcpy(new char[n_bytes], text, n_bytes));
}

#if defined(FFI_HPY_BIND_PY_OBJECT)
/** Adds the functions of type_slots to a class; type_slots.h defines it. A template, so that only files that use it
 * compile it. */
template <typename T, std::enable_if_t<std::is_same_v<T, type_slots>, int> = 0>
void define_slots(handle cls, const ffi_hpy_class *type, const T &given);
template <typename T, std::enable_if_t<!std::is_same_v<T, type_slots>, int> = 0>
void define_slots(handle, const ffi_hpy_class *, const T &) {}
#endif

/** The constant parts of a class: the constants of T, and the record of the base class. */
struct class_constants {
  void (*destroy)(void *value);
  void (*delete_value)(ffi_hpy_instance *self);
  void (*copy)(void *room, const void *value);
  void (*move)(void *room, void *value);
  void (*visit_value)(const ffi_hpy_instance *self, const void *visitor); /* NULL: as for classes without trampoline */
  class_record *base;
  void *(*to_base)(void *value);
  uint32_t size, alignment;
  bool has_plain_base; /* the place of the base is known without an object */
};

/** Looks for the class of a record: the library is imported again, or another one has bound the class. Then it becomes
 * an attribute of the scope, and `cls`; otherwise the result is null. */
inline const ffi_hpy_class *find_known(class_record *record, object *cls, handle scope, const char *name) {
  const ffi_hpy_class *type = find_class(record);
  if (type == nullptr) return nullptr;
  object warning = str_of(joined({FFI_HPY_BIND_TEXT ": type '", name, "' was already registered!"}));
  *cls = ask_python("known_class", scope, str_of(name), int_value(type->type_index), warning);
  return type;
}

/** Adds a class to the core and to a scope. */
inline const ffi_hpy_class *add_class(class_record *record, object *cls, handle scope, const char *name,
                                      const class_constants &constants, const class_about &about) {
  auto *made = new ffi_hpy_class{}; /* for the life of the process */
  made->destroy = constants.destroy;
  made->delete_value = constants.delete_value;
  made->copy = constants.copy;
  made->move = constants.move;
  made->visit_value = constants.visit_value != nullptr ? constants.visit_value : &visit_value<nullptr>;
  made->size = constants.size;
  made->alignment = constants.alignment;
  made->cpp_name = lasting(cpp_name_of(*record->info).c_str());
  made->info = record->info;
  made->supplement = about.supplement;
  made->set_self = about.set_self;
  made->set_self_function = about.set_self_function;
  if (constants.base != nullptr) {
    made->base = &get_class(constants.base);
    auto *value = reinterpret_cast<void *>(uintptr_t{4096}); /* never accessed */
    bool is_first = constants.has_plain_base && constants.to_base(value) == value;
    if (!is_first) made->to_base = constants.to_base;
  }
  if (about.base.is_valid()) made->base = &bound_class(about.base);
  object label = str_of(name), full = ask_python("key_in", scope, label);
  std::string_view text;
  (void)read_text(full.any(), false, &text);
  TVMFFIByteArray key = bytes_of(text), doc = bytes_of(about.doc);
  check(api->class_add(made, &key, &doc));
  record->known.store(made, std::memory_order_release);
  *cls = ask_python("class", scope, label, int_value(made->type_index), int_value(about.flags),
                    int_value(reinterpret_cast<intptr_t>(made)), str_of(FFI_HPY_BIND_TEXT));
  if (about.base.is_valid()) ask_python("original_base", *cls, about.base);
  if (about.signature != nullptr) ask_python("class_signature", *cls, str_of(about.signature));
  return made;
}

/** The part of class_ that does not depend on T. */
class class_base : public object {
public:
  /** The Function of the constructors. */
  const object &constructor() const { return constructor_; }

protected:
  /* A class that is bound already. */
  class_base(class_record *record, object &&cls)
      : object(std::move(cls)), type_(find_class(record)), has_init_(true), is_known_(true) {}
  class_base(class_record *record, handle scope, const char *name, const class_constants &constants,
             const class_about &about) {
    in_module->begin_class(this, record, scope, name, constants, about);
  }

  const ffi_hpy_class *type_ = nullptr;
  bool has_init_ = false, is_known_ = false;

private:
  friend void begin_class_in_module(class_base *made, class_record *record, handle scope, const char *name,
                                    const class_constants &constants, const class_about &about);
  friend void add_constructor_in_module(class_base *to, function_record *record);
  friend void add_method_in_module(class_base *to, const char *name, function_record *record);
  friend void add_plain_method_in_module(class_base *to, const char *name, bool is_static, function_record *record);
  friend void add_property_in_module(class_base *to, function_record *read, function_record *write);

  void set_init(const object &made) {
    if (!has_init_) {
      TVMFFIByteArray init_name = bytes_of("__ffi_init__");
      check(api->class_add_attr(type_->type_index, &init_name, &made.any()));
    }
    has_init_ = true;
    constructor_ = made;
  }

  object constructor_;
};

FFI_HPY_NOINLINE inline void begin_class_in_module(class_base *made, class_record *record, handle scope,
                                                   const char *name, const class_constants &constants,
                                                   const class_about &about) {
  made->type_ = find_known(record, made, scope, name);
  made->has_init_ = made->is_known_ = made->type_ != nullptr;
  if (!made->is_known_) made->type_ = add_class(record, made, scope, name, constants, about);
}
FFI_HPY_NOINLINE inline void add_constructor_in_module(class_base *to, function_record *record) {
  to->set_init(define_method(*to, to->type_, "__ffi_init__", true, record));
}
/** Adds a method; or a function that constructs the object in the memory of its first parameter. */
FFI_HPY_NOINLINE inline void add_method_in_module(class_base *to, const char *name, function_record *record) {
  bool is_init = std::strcmp(name, "__init__") == 0;
  if (is_init || std::strcmp(name, "__setstate__") == 0) {
    object function = define_placement(*to, to->type_, name, record);
    if (is_init) to->set_init(function);
  } else {
    define_method(*to, to->type_, name, false, record);
  }
}
FFI_HPY_NOINLINE inline void add_plain_method_in_module(class_base *to, const char *name, bool is_static,
                                                        function_record *record) {
  define_method(*to, to->type_, name, is_static, record);
}
FFI_HPY_NOINLINE inline void add_property_in_module(class_base *to, function_record *read, function_record *write) {
  if (!to->is_known_ || !hasattr(*to, read->name)) return define_property(*to, to->type_, read, write);
  for (function_record *each : {read, write}) {
    if (each != nullptr && each->free_capture != nullptr) each->free_capture(each->capture);
  }
}

/** The member of FFI_HPY_TRAMPOLINE, which may be private. */
struct trampoline_access {
  template <typename T> static auto &of(T &alias) { return alias.ffi_hpy_trampoline; }
  template <typename T> static std::true_type test(decltype(&T::ffi_hpy_trampoline));
  template <typename T> static std::false_type test(...);
};
template <typename T> inline constexpr bool has_trampoline_v = decltype(trampoline_access::test<T>(nullptr))::value;

/** Whether the offset of a base class in an object is known without the object. The offset of a virtual base is not. */
template <typename Base, typename T>
auto is_plain_base(int) -> decltype(static_cast<T *>(std::declval<Base *>()), std::true_type());
template <typename Base, typename T> std::false_type is_plain_base(...);
template <typename Base, typename T> inline constexpr bool is_plain_base_v = decltype(is_plain_base<Base, T>(0))::value;

/** The first of Ts that derives from T, a trampoline; T if there is none. */
template <typename T, typename... Ts> struct alias_in {
  using type = T;
};
template <typename T, typename First, typename... Ts> struct alias_in<T, First, Ts...> {
  using type = typename std::conditional_t<std::is_base_of_v<T, First>, alias_in<First>, alias_in<T, Ts...>>::type;
};

/** The destructor of all classes whose destructor does nothing. */
inline void destroy_nothing(void *) {}
/** Steps of all classes of that size whose values are copied as bytes. */
template <size_t N> void copy_bytes(void *room, const void *value) { std::memcpy(room, value, N); }
template <size_t N> void move_bytes(void *room, void *value) { std::memcpy(room, value, N); }

template <typename T, typename Base> constexpr void set_base([[maybe_unused]] class_constants *made) {
  if constexpr (std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>) {
    made->base = &class_of<Base>::record;
    made->has_plain_base = is_plain_base_v<Base, T>;
    made->to_base = [](void *value) -> void * { return static_cast<Base *>(static_cast<T *>(value)); };
  }
}
template <typename T, typename Alias, bool HasDestructor, typename... Ts>
constexpr class_constants constants_of_class() {
  class_constants made{};
  (set_base<T, Ts>(&made), ...);
  if constexpr (HasDestructor && std::is_destructible_v<T>) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      made.destroy = destroy_nothing;
    } else {
      made.destroy = [](void *value) { static_cast<T *>(value)->~T(); };
    }
    made.delete_value = [](ffi_hpy_instance *self) { delete static_cast<T *>(self->holder); };
  }
  if constexpr (std::is_trivially_copyable_v<T> && std::is_trivially_copy_constructible_v<T> &&
                is_copy_constructible<T>::value) {
    made.copy = copy_bytes<sizeof(T)>;
  } else if constexpr (is_copy_constructible<T>::value) {
    made.copy = [](void *room, const void *value) { new (room) T(*static_cast<const T *>(value)); };
  }
  if constexpr (std::is_trivially_copyable_v<T> && std::is_trivially_move_constructible_v<T>) {
    made.move = move_bytes<sizeof(T)>;
  } else if constexpr (std::is_move_constructible_v<T>) {
    made.move = [](void *room, void *value) { new (room) T(std::move(*static_cast<T *>(value))); };
  }
  if constexpr (!std::is_same_v<T, Alias>) made.visit_value = visit_value<&destroy_alias<T, Alias>>;
  made.size = static_cast<uint32_t>(sizeof(T) > sizeof(Alias) ? sizeof(T) : sizeof(Alias));
  made.alignment = alignof(T) > alignof(Alias) ? alignof(T) : alignof(Alias);
  return made;
}
/** The constants of class_<T, Ts...>: a table takes less code than statements that fill in one. */
template <typename T, typename Alias, bool HasDestructor, typename... Ts>
inline constexpr class_constants class_constants_v = constants_of_class<T, Alias, HasDestructor, Ts...>();

} // namespace detail

/** Binds a class, which need not know of it. Ts may name the bound base class, and a trampoline: a class that derives
 * from T and passes the calls of virtual functions to Python (trampoline.h). */
template <typename T, typename... Ts> class class_ : public detail::class_base {
  template <typename U> static constexpr bool is_base = std::is_base_of_v<U, T> && !std::is_same_v<U, T>;
  template <typename U> static constexpr bool is_alias = std::is_base_of_v<T, U> && !std::is_same_v<U, T>;
  static_assert(((is_base<Ts> || is_alias<Ts>) && ...), "class_<T, Base, Trampoline>: another class is named");
  static_assert((int{is_base<Ts>} + ... + 0) <= 1 && (int{is_alias<Ts>} + ... + 0) <= 1,
                "class_<T, Base, Trampoline>: one base class, and one trampoline");

  static_assert(std::is_class_v<T> || std::is_union_v<T> || std::is_enum_v<T>, "class_<T>: T is not a class");
  static_assert(detail::is_base_caster_v<detail::make_caster<T>>,
                "class_<T>: a caster converts T already; FFI_HPY_MAKE_OPAQUE(T) binds it as a class instead");

public:
  using Type = T;
  using Alias = typename detail::alias_in<T, Ts...>::type;

  /** Further arguments: documentation, dynamic_attr(), is_weak_referenceable(), is_final(). */
  template <typename... Extra>
  class_(handle in, const char *name, const Extra &...extra)
      : class_base(&detail::class_of<T>::record, in, name,
                   detail::class_constants_v<T, Alias, !(std::is_same_v<Extra, never_destruct> || ...), Ts...>,
                   detail::about_of(extra...)) {
    if constexpr (detail::has_trampoline_v<Alias>) {
      if (!is_known_) detail::define_trampoline<T, Alias>(*this);
    }
#if defined(FFI_HPY_BIND_PY_OBJECT)
    if constexpr ((std::is_same_v<Extra, type_slots> || ...)) {
      if (!is_known_) (detail::define_slots(*this, type_, extra), ...);
    }
#endif
  }

  /** A class that is bound already: `borrow<class_<T>>(type<T>())`. */
  class_(handle cls, detail::borrow_t how) : class_base(&detail::class_of<T>::record, object(cls, how)) {}
  class_(handle cls, detail::steal_t how) : class_base(&detail::class_of<T>::record, object(cls, how)) {}

  /** Adds a constructor, or the entries of another def_visitor. */
  template <typename Visitor, typename... Extra>
  class_ &def(const def_visitor<Visitor> &visitor, const Extra &...extra) {
    static_cast<const Visitor &>(visitor).execute(*this, extra...);
    return *this;
  }
  /** As above; `execute` need not be const. */
  template <typename Visitor, typename... Extra> class_ &def(def_visitor<Visitor> &&visitor, const Extra &...extra) {
    static_cast<Visitor &>(visitor).execute(*this, extra...);
    return *this;
  }
  /** Adds an operator that returns an object of the class, whatever the operator of C++ returns. */
  template <typename Operator, typename... Extra>
  class_ &def_cast(const def_visitor<Operator> &visitor, const Extra &...extra) {
    static_cast<const Operator &>(visitor).execute_cast(*this, extra...);
    return *this;
  }
  /** Adds a constructor: a function that returns an object of the class. */
  template <typename F, typename... Extra> class_ &def_constructor(F &&f, const Extra &...extra) {
    detail::description<0, std::decay_t<F>, std::decay_t<decltype(detail::in_constructor(extra))>...> made(
        "__init__", static_cast<F &&>(f), detail::in_constructor(extra)...);
    detail::in_module->add_constructor(this, &made);
    return *this;
  }
  /** Adds a method: a member function, or a function whose first parameter is the object. */
  template <typename F, typename... Extra, std::enable_if_t<!std::is_base_of_v<def_visitor<F>, F>, int> = 0>
  class_ &def(const char *name, F &&f, const Extra &...extra) {
    if constexpr (detail::has_trampoline_v<Alias> && std::is_member_function_pointer_v<std::decay_t<F>>) {
      auto method = detail::base_methods<T>::bind(detail::lasting(name), f);
      detail::description<kFfiHpyFunctionIsMethod, decltype(method), Extra...> made(name, std::move(method), extra...);
      detail::in_module->add_plain_method(this, name, false, &made);
    } else {
      using Method = decltype(detail::with_self<T>(static_cast<F &&>(f)));
      detail::description<kFfiHpyFunctionIsMethod, Method, Extra...> made(
          name, detail::with_self<T>(static_cast<F &&>(f)), extra...);
      detail::in_module->add_method(this, name, &made);
    }
    return *this;
  }
  /** Adds a static method. */
  template <typename F, typename... Extra> class_ &def_static(const char *name, F &&f, const Extra &...extra) {
    detail::description<0, std::decay_t<F>, Extra...> made(name, static_cast<F &&>(f), extra...);
    detail::in_module->add_plain_method(this, name, true, &made);
    return *this;
  }
  /** Adds a property of a member that can be read and set. */
  template <typename C, typename M, typename... Extra>
  class_ &def_rw(const char *name, M C::*member, const Extra &...extra) {
    static_assert(!std::is_const_v<M>, "def_rw: the member is const; def_ro is for members that can be read only");
    if constexpr (!std::is_const_v<M> && is_data_v<C, M>) {
      visit_member(member);
      constexpr bool is_number = std::is_arithmetic_v<M> || std::is_enum_v<M>;
      define_property<is_number && sizeof(M) <= sizeof(int64_t)>(name, getter(member), setter(member), extra...);
    }
    return *this;
  }
  /** Adds a property of a member that can be read. */
  template <typename C, typename M, typename... Extra>
  class_ &def_ro(const char *name, M C::*member, const Extra &...extra) {
    if constexpr (is_data_v<C, M>) {
      visit_member(member);
      define_property(name, getter(member), nullptr, extra...);
    }
    return *this;
  }
  /** Adds a function (const T &value, const reference_visitor &visit) that visits the members which are not bound with
   * def_rw or def_ro: visit(value.member_). With it the garbage collector of Python finds cycles through them. The
   * function may run at any time on any thread that runs Python: it only reads the value. */
  template <typename F> class_ &def_traverse(F &&f) {
    if (!is_known_) detail::add_traverse<T>(type_, std::forward<F>(f));
    return *this;
  }
  /** Adds a property with functions that read it and set it. One of them may be null. */
  template <typename Get, typename Set, typename... Extra>
  class_ &def_prop_rw(const char *name, Get &&get, Set &&set, const Extra &...extra) {
    return define_property(name, detail::with_self<T>(detail::reader_or_error(static_cast<Get &&>(get))),
                           detail::with_self<T>(static_cast<Set &&>(set)), extra...);
  }
  /** Adds a property with a function that reads it. */
  template <typename Get, typename... Extra> class_ &def_prop_ro(const char *name, Get &&get, const Extra &...extra) {
    return define_property(name, detail::with_self<T>(static_cast<Get &&>(get)), nullptr, extra...);
  }
  /** Adds a property of the class: a function that reads it and one that sets it. The first parameter of both functions
   * is the class, a handle. One of the functions may be null. */
  template <typename Get, typename Set, typename... Extra>
  class_ &def_prop_rw_static(const char *name, Get &&get, Set &&set, const Extra &...extra) {
    object read = cpp_function(detail::reader_or_error(std::forward<Get>(get)), rv_policy::reference,
                               detail::extra_of_getter(extra)...);
    object write = none();
    if constexpr (!std::is_same_v<std::decay_t<Set>, std::nullptr_t>) {
      write =
          cpp_function(std::forward<Set>(set), ::FFI_HPY_BIND_NAMESPACE::name(name), detail::extra_of_setter(extra)...);
    }
    detail::class_about about;
    (detail::apply_doc(&about, detail::extra_of_getter(extra)), ...);
    detail::ask_python("static_property", *this, detail::str_of(name), read, write, detail::text_or_empty(about.doc));
    return *this;
  }
  /** Adds a property of the class that can be read. */
  template <typename Get, typename... Extra>
  class_ &def_prop_ro_static(const char *name, Get &&get, const Extra &...extra) {
    return def_prop_rw_static(name, std::forward<Get>(get), nullptr, extra...);
  }
  /** Adds a property of a static member that can be read and set. */
  template <typename M, typename... Extra> class_ &def_rw_static(const char *name, M *member, const Extra &...extra) {
    return def_prop_rw_static(
        name, [member](handle) -> const M & { return *member; }, [member](handle, const M &value) { *member = value; },
        extra...);
  }
  /** Adds a property of a static member that can be read. */
  template <typename M, typename... Extra> class_ &def_ro_static(const char *name, M *member, const Extra &...extra) {
    return def_prop_ro_static(name, [member](handle) -> const M & { return *member; }, extra...);
  }
  /** Makes the class constant: Python cannot set its attributes any more. The last step of a definition. */
  class_ &freeze() {
    detail::ask_python("freeze", *this);
    return *this;
  }

private:
  template <typename C, typename M> static constexpr bool is_data() {
    static_assert(std::is_object_v<M>, "this is a member function: def binds it, or def_prop_ro as a property");
    detail::require_member<T, C>();
    return std::is_object_v<M> && detail::has_members_of_v<T, C>;
  }
  template <typename C, typename M> static constexpr bool is_data_v = is_data<C, M>();
  template <typename C, typename M> void visit_member([[maybe_unused]] M C::*member) {
    if constexpr (detail::has_references_v<std::remove_cv_t<M>>) {
      def_traverse([member](const T &value, const reference_visitor &visit) { visit(value.*member); });
    }
  }
  template <typename C, typename M> static auto getter(M C::*member) {
    if constexpr (!std::is_array_v<M> && !std::is_pointer_v<M> &&
                  detail::is_base_caster_v<detail::make_caster<std::decay_t<M>>>) {
      return [member](T &self) -> M & { return self.*member; }; /* Python refers to the member */
    } else if constexpr (std::is_array_v<M> && std::is_same_v<std::remove_extent_t<M>, char>) {
      return [member](const T &self) -> const char * { return self.*member; };
    } else {
      return [member](const T &self) -> const M & { return self.*member; };
    }
  }
  template <typename C, typename M> static auto setter(M C::*member) {
    constexpr bool is_moved =
        !std::is_pointer_v<M> && std::is_move_assignable_v<M> && !detail::is_base_caster_v<detail::make_caster<M>>;
    if constexpr (detail::is_text_view_v<M>) {
      return [member](pointer_and_handle<T> self, M value) { self.p->*member = detail::kept_text(self.h, value); };
    } else if constexpr (is_moved) {
      return [member](T &self, M &&value) { self.*member = std::move(value); };
    } else {
      return [member](T &self, const M &value) { self.*member = value; };
    }
  }
  /* IsWord: see FFI_HPY_FIELD_IS_WORD. */
  template <bool IsWord = false, typename Get, typename Set, typename... Extra>
  class_ &define_property(const char *name, Get &&get, Set &&set, const Extra &...extra) {
    detail::description<kFfiHpyFunctionIsMethod, std::decay_t<Get>, rv_policy,
                        std::decay_t<decltype(detail::extra_of_getter(extra))>...>
    read(name, static_cast<Get &&>(get), rv_policy::reference_internal, detail::extra_of_getter(extra)...);
    if constexpr (std::is_same_v<std::decay_t<Set>, std::nullptr_t>) {
      detail::in_module->add_property(this, &read, nullptr);
    } else {
      static_assert(detail::signature_of<std::decay_t<Set>>::types::n == 2,
                    "the function that sets a property has two parameters: the object and the value");
      detail::description<kFfiHpyFunctionIsMethod, std::decay_t<Set>,
                          std::decay_t<decltype(detail::extra_of_setter(extra))>...>
      write(name, static_cast<Set &&>(set), detail::extra_of_setter(extra)...);
      if (IsWord) write.flags |= kFfiHpyFunctionSetsWord;
      detail::in_module->add_property(this, &read, &write);
    }
    return *this;
  }
};

namespace detail {
inline bool warns_of_conversions = true;

FFI_HPY_COLD inline void warn_of_conversion(handle source, const ffi_hpy_class &type) noexcept {
  try {
    std::string from = cast<std::string>(ask_python("value_name", source));
    std::fprintf(stderr, FFI_HPY_BIND_TEXT ": implicit conversion from type '%s' to type '%s' failed!\n", from.c_str(),
                 key_of(&type, "").c_str());
  } catch (...) { /* without the names, the report is not worth an error */
  }
}
} // namespace detail

/** Whether implicit conversions whose constructor fails are reported to stderr, by this library. */
inline bool implicit_cast_warnings() noexcept { return detail::warns_of_conversions; }
inline void set_implicit_cast_warnings(bool value) noexcept { detail::warns_of_conversions = value; }
/** Whether objects that live at the end of the process are reported: `FFI_HPY_LEAKS` decides it, not the library. */
inline bool leak_warnings() noexcept { return false; }
inline void set_leak_warnings(bool) noexcept {}

/** Lets arguments of type Source be converted to Target, by a constructor of Target. */
template <typename Source, typename Target> void implicitly_convertible() {
  auto convert = [](handle source) -> handle {
    detail::cleanup_list cleanup;
    detail::make_caster<Source> caster;
    constexpr bool is_class = detail::is_base_caster_v<detail::make_caster<Source>>;
    constexpr uint32_t flags = is_class ? 0 : uint32_t{detail::cast_flags::convert}; /* classes do not chain */
    if (!caster.from_python(source, flags, &cleanup) || !caster.template can_cast<Source>()) return handle();
    handle cls = type<Target>();
    handle made = detail::guarded([&] { return cls(source); });
    if (!made.is_valid()) {
      python_error dropped;
      if (detail::warns_of_conversions) detail::warn_of_conversion(source, detail::class_of<Target>::get());
    }
    return made;
  };
  detail::class_of<Target>::record.conversions = new detail::implicit_conversion{
      convert, detail::class_of<Target>::record.conversions}; /* for the life of the process */
}
template <typename Arg>
template <typename Class, typename... Extra>
void init_implicit<Arg>::execute(Class &cl, const Extra &...extra) const {
  init<Arg>().execute(cl, extra...);
  implicitly_convertible<detail::intrinsic_t<Arg>, typename Class::Type>();
}

/** Makes an exception class of Python for a C++ class: exception<TooSmall>(m, "TooSmall"). The base is a class of
 * Python, or the name of a built-in one. */
template <typename E> class exception : public object {
public:
  exception() = default;
  exception(handle in, const char *name, const char *base = "Exception")
      : exception(in, name, detail::ask_python("constant", detail::str_of(base))) {}
  exception(handle in, const char *name, handle base)
      : object(detail::ask_python("exception", in, detail::str_of(name), base,
                                  detail::str_of(detail::cpp_name_of(typeid(E))))) {
    auto translate = [](const detail::translator *self, [[maybe_unused]] const std::exception *known,
                        const std::exception_ptr &thrown) {
      if constexpr (std::is_base_of_v<std::exception, E>) {
        if (known != nullptr) { /* dynamic_cast costs less than a throw */
          const E *error = dynamic_cast<const E *>(known);
          if (error != nullptr) raise(self, *error);
          return error != nullptr;
        }
      }
      try {
        std::rethrow_exception(thrown);
      } catch (const E &error) {
        raise(self, error);
        return true;
      } catch (...) {
        return false;
      }
    };
    object key = detail::ask_python("key_in", in, detail::str_of(name));
    detail::translators = /* for the life of the process */
        new detail::translator{translate, cast<std::string>(key), nullptr, nullptr, detail::translators};
  }

private:
  static void raise(const detail::translator *self, const E &error) {
    detail::api->raise(self->kind.c_str(), error.what());
    detail::set_cause(detail::cause_of(error));
  }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_CLASS_H_ */
