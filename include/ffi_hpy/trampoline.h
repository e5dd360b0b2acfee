/* trampoline.h - classes of Python override virtual functions of C++.
 *
 *   struct PyAnimal : Animal {
 *     FFI_HPY_TRAMPOLINE(Animal);
 *     std::string speak(int times) const override { FFI_HPY_OVERRIDE(speak, times); }
 *     std::string kind() const override { FFI_HPY_OVERRIDE_PURE(kind); } // Animal has `= 0`
 *   };
 *
 *   nb::class_<Animal, PyAnimal>(m, "Animal").def(nb::init<>()).def("speak", &Animal::speak);
 *
 * C++ code that calls speak() of an object whose class of Python overrides it calls the method of Python. In that
 * method, super().speak() calls Animal::speak(). An object has overrides once its constructor has returned, and until
 * its destruction begins. */
#ifndef FFI_HPY_TRAMPOLINE_H_
#define FFI_HPY_TRAMPOLINE_H_

#include <ffi_hpy/bind/class.h>

#include <atomic>
#include <memory>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** One call of an override in the source: the name, its number in the tables of classes, and the Function that calls
 * the method of that name of its first argument. */
struct override_slot {
  const char *name;
  std::atomic<uint32_t> number{0};             /**< 0: none yet */
  std::atomic<TVMFFIObject *> caller{nullptr}; /**< owned for the life of the process; release, acquire */

  constexpr explicit override_slot(const char *method) : name(method) {}
};
inline std::atomic<uint32_t> n_override_slots{0};

/** The answers of one class of Python to "does it override this slot?". A change of the class gives the table another
 * version, which makes all answers old. */
class override_table {
public:
  override_table() = default;
  override_table(const override_table &) = delete;
  ~override_table() { delete more_.load(std::memory_order_relaxed); }

  uint32_t version() const { return version_.load(std::memory_order_acquire); }
  void forget() { version_.fetch_add(1, std::memory_order_acq_rel); }
  /** 1 or 0; -1 for an answer that is not known. */
  int find(uint32_t number) const {
    const override_table *part = this;
    for (; part != nullptr && number >= kSize; number -= kSize) part = part->more_.load(std::memory_order_acquire);
    if (part == nullptr) return -1;
    uint32_t answer = part->answers_[number].load(std::memory_order_relaxed);
    return answer >> 1 == version() ? static_cast<int>(answer & 1) : -1;
  }
  /** Stores an answer that was found while the class had a version. */
  void store(uint32_t number, uint32_t version, bool is_overridden) {
    override_table *part = this;
    for (; number >= kSize; number -= kSize) part = part->next();
    part->answers_[number].store(version << 1 | uint32_t{is_overridden}, std::memory_order_relaxed);
  }

private:
  enum : uint32_t { kSize = 32 };

  override_table *next() {
    override_table *known = more_.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    auto made = std::make_unique<override_table>();
    return more_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? made.release() : known;
  }

  std::atomic<uint32_t> version_{1};
  std::atomic<uint32_t> answers_[kSize] = {}; /* the version, then a bit; 0 has no version */
  std::atomic<override_table *> more_{nullptr};
};

/** A function of an object that runs on this thread: as an override, or because Python has called the method of the
 * bound class. A virtual call of the same function from there is for the function of the base class. */
class running_function {
public:
  explicit running_function(const void *whole, const char *name)
      : whole_(whole), name_(name), place_(&innermost), outer_(*place_) {
    *place_ = this;
  }
  running_function(const running_function &) = delete;
  ~running_function() { *place_ = outer_; }
  static bool is_innermost(const void *whole, const char *name) {
    return innermost != nullptr && innermost->whole_ == whole && std::strcmp(innermost->name_, name) == 0;
  }

private:
  const void *whole_;
  const char *name_;
  const running_function **place_; /**< found once: finding a thread's data is a call in a shared library */
  const running_function *outer_;
  static inline thread_local const running_function *innermost = nullptr;
};

/** The member of a trampoline: the object, and the table of its class. Empty unless the class is one of Python that
 * derives from the bound class. */
class trampoline {
public:
  trampoline() = default;
  /** A copy is not the object of Python. */
  trampoline(const trampoline &) {}
  trampoline &operator=(const trampoline &) { return *this; }

  void connect(ffi_hpy_instance *self, const void *whole, const std::shared_ptr<override_table> &table) {
    if (table_ != nullptr) return;
    self_ = self;
    whole_ = whole;
    table_ = table;
  }
  bool is_plain() const { return table_ == nullptr; }
  const void *whole() const { return whole_; }
  /** The object while it is not being destroyed; empty otherwise. */
  object owner() const {
    if (self_ == nullptr || static_cast<uint32_t>(self_->header.combined_ref_count) == 0) return object();
    return borrow(handle(view_of(self_)));
  }
  bool overrides(override_slot *slot) const {
    int known = table_->find(slot->number.load(std::memory_order_relaxed));
    return known >= 0 ? known != 0 : find(slot);
  }

private:
  FFI_HPY_COLD bool find(override_slot *slot) const {
    uint32_t number = slot->number.load(std::memory_order_relaxed), version = table_->version();
    if (number == 0) {
      uint32_t made = n_override_slots.fetch_add(1, std::memory_order_relaxed) + 1;
      if (slot->number.compare_exchange_strong(number, made, std::memory_order_relaxed)) number = made;
    }
    object self = owner();
    if (!self.is_valid()) return false;
    object caller = ask_python("override", self, str_of(slot->name));
    if (caller.any().type_index == kTVMFFIBool) return false; /* the next call asks again */
    bool is_overridden = !caller.is_none();
    if (is_overridden) {
      TVMFFIObject *known = nullptr;
      if (slot->caller.compare_exchange_strong(known, caller.any().v_obj, std::memory_order_acq_rel)) {
        (void)caller.release();
      }
    }
    table_->store(number, version, is_overridden);
    return is_overridden;
  }

  ffi_hpy_instance *self_ = nullptr;
  const void *whole_ = nullptr;
  std::shared_ptr<override_table> table_;
};

/** The call of a virtual function: of the override, unless there is none or the override makes this call itself. */
class override_call {
public:
  override_call(const trampoline &of, override_slot *slot) {
    if (of.is_plain() || !of.overrides(slot) || running_function::is_innermost(of.whole(), slot->name)) return;
    self_ = of.owner();
    slot_ = slot;
    whole_ = of.whole();
  }
  explicit operator bool() const { return self_.is_valid(); }

  template <typename R, typename... Args> R call(Args &&...args) const {
    constexpr size_t n = sizeof...(Args);
    object values[n + 1] = {cast(std::forward<Args>(args))...}; /* and an empty one */
    TVMFFIAny views[n + 3] = {};
    for (size_t i = 0; i < n; ++i) views[i + 3] = values[i].any();
    running_function running(whole_, slot_->name);
    object kept = takes_python_result_v<R> ? call_package(views, n) : call_native(views + 2, n + 1);
    if constexpr (is_text_view_v<R>) {
      return last_text(::FFI_HPY_BIND_NAMESPACE::cast<R>(kept));
    } else {
      return ::FFI_HPY_BIND_NAMESPACE::cast<R>(kept);
    }
  }

private:
  /* `views` begin with the object, which this function sets. */
  object call_native(TVMFFIAny *views, size_t n) const {
    TVMFFIAny result = none_value();
    views[0] = self_.any();
    check(api->call(slot_->caller.load(std::memory_order_acquire), views, static_cast<int32_t>(n), &result));
    return take(result);
  }
  /* For a result that C++ gets as the Python object itself: a native function converts it. */
  object call_package(TVMFFIAny *views, size_t n) const {
    object method = str_of(slot_->name);
    views[1] = method.any();
    views[2] = self_.any();
    return ask_python_with(kFfiHpyRunCallMethod, views, n + 3);
  }

  object self_;
  override_slot *slot_ = nullptr;
  const void *whole_ = nullptr;
};

/** Methods of a class with a trampoline, as Python calls them. The name must last. */
template <typename T> struct base_methods {
  template <typename C, typename R, typename... A> static auto bind(const char *name, R (C::*method)(A...)) {
    return with_mark<T, R, A...>(name, method);
  }
  template <typename C, typename R, typename... A> static auto bind(const char *name, R (C::*method)(A...) const) {
    return with_mark<const T, R, A...>(name, method);
  }
  template <typename C, typename R, typename... A> static auto bind(const char *name, R (C::*method)(A...) noexcept) {
    return with_mark<T, R, A...>(name, method);
  }
  template <typename C, typename R, typename... A>
  static auto bind(const char *name, R (C::*method)(A...) const noexcept) {
    return with_mark<const T, R, A...>(name, method);
  }

private:
  template <typename Self, typename R, typename... A, typename Method>
  static auto with_mark(const char *name, Method method) {
    return [name, method](Self &self, A... args) -> R {
      running_function running(dynamic_cast<const void *>(&self), name);
      return (self.*method)(static_cast<A &&>(args)...);
    };
  }
};

template <typename Base> [[noreturn]] FFI_HPY_COLD void throw_pure(const trampoline &of, const char *name) {
  object self = of.owner();
  std::string cls = self.is_valid() ? cast<std::string>(ask_python("short_class_name", self.type()))
                                    : key_of(class_of<Base>::find(), typeid(Base).name());
  throw std::runtime_error("override('" + cls + "::" + name + "()'): tried to call a pure virtual function!");
}

/** The functions of all trampoline classes: a new table, and the end of its answers. */
struct override_functions {
  using Table = std::shared_ptr<override_table>;

  static capsule make() {
    auto drop = [](void *table) noexcept { delete static_cast<Table *>(table); };
    return capsule(new Table(std::make_shared<override_table>()), "ffi_hpy.overrides", drop);
  }
  static void forget(const capsule &table) { of(table)->forget(); }
  static const Table &of(const capsule &table) { return *static_cast<Table *>(table.data("ffi_hpy.overrides")); }
};

template <typename T, typename Alias> void define_trampoline(handle cls) {
  auto connect = [](handle self, const capsule &table) {
    auto *instance = reinterpret_cast<ffi_hpy_instance *>(self.any().v_obj);
    if (instance->release != &destroy_alias<T, Alias>) return; /* another function has made the object */
    auto *alias = (Alias *)static_cast<T *>(instance->value); /* the base may be private */
    trampoline_access::of(*alias).connect(instance, alias, override_functions::of(table));
  };
  ask_python("trampoline", cls, cpp_function(&override_functions::make), cpp_function(&override_functions::forget),
             cpp_function(connect));
}

template <typename Base, int...> struct trampoline_base {
  using type = Base;
};

} // namespace detail

/** The first member of a trampoline class, which derives from the class that it names. The macro inherits the
 * constructors of that class. */
#define FFI_HPY_TRAMPOLINE(...)                                                                       \
  using ffi_hpy_base = typename ::FFI_HPY_BIND_NAMESPACE::detail::trampoline_base<__VA_ARGS__>::type; \
  using ffi_hpy_base::ffi_hpy_base;                                                                   \
  friend struct ::FFI_HPY_BIND_NAMESPACE::detail::trampoline_access;                                  \
  ::FFI_HPY_BIND_NAMESPACE::detail::trampoline ffi_hpy_trampoline

/** Calls the override of a virtual function by its name in Python; or the function of the base class. */
#define FFI_HPY_OVERRIDE_NAME(name, func, ...)                                                           \
  static ::FFI_HPY_BIND_NAMESPACE::detail::override_slot ffi_hpy_slot{name};                             \
  if (::FFI_HPY_BIND_NAMESPACE::detail::override_call ffi_hpy_call{ffi_hpy_trampoline, &ffi_hpy_slot}) { \
    return ffi_hpy_call.call<decltype(ffi_hpy_base::func(__VA_ARGS__))>(__VA_ARGS__);                    \
  }                                                                                                      \
  return ffi_hpy_base::func(__VA_ARGS__)

/** Calls the override of a pure virtual function by its name in Python; RuntimeError if there is none. */
#define FFI_HPY_OVERRIDE_PURE_NAME(name, func, ...)                                                      \
  static ::FFI_HPY_BIND_NAMESPACE::detail::override_slot ffi_hpy_slot{name};                             \
  if (::FFI_HPY_BIND_NAMESPACE::detail::override_call ffi_hpy_call{ffi_hpy_trampoline, &ffi_hpy_slot}) { \
    return ffi_hpy_call.call<decltype(ffi_hpy_base::func(__VA_ARGS__))>(__VA_ARGS__);                    \
  }                                                                                                      \
  ::FFI_HPY_BIND_NAMESPACE::detail::throw_pure<ffi_hpy_base>(ffi_hpy_trampoline, name)

/** As FFI_HPY_OVERRIDE_NAME, for a method with the name of the function. */
#define FFI_HPY_OVERRIDE(func, ...) FFI_HPY_OVERRIDE_NAME(#func, func, __VA_ARGS__)
/** As FFI_HPY_OVERRIDE_PURE_NAME, for a method with the name of the function. */
#define FFI_HPY_OVERRIDE_PURE(func, ...) FFI_HPY_OVERRIDE_PURE_NAME(#func, func, __VA_ARGS__)

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_TRAMPOLINE_H_ */
