/* references.h - the objects that a C++ value owns, for the garbage collector of Python. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_REFERENCES_H_
#define FFI_HPY_BIND_REFERENCES_H_

#include <ffi_hpy/bind/instance.h>

#include <cstring>
#include <new>
#include <utility>

FFI_HPY_NAMESPACE_BEGIN

class reference_visitor;

namespace detail {

/** How the collector finds the objects in a T that is not listed in kind_of_references(): `any`, and
 * visit(const T &, const reference_visitor &). Authors may specialise it. */
template <typename T, typename = int> struct references_in {
  static constexpr bool any = false;
};

/** The forms of a type that has references. */
enum class references { none, object, pointer, optional, tuple, range, bound, other };

template <typename T, typename = void> inline constexpr bool is_smart_pointer_v = false;
template <typename T>
inline constexpr bool is_smart_pointer_v<T, std::void_t<typename T::element_type, decltype(std::declval<T>().get())>> =
    !std::is_array_v<typename T::element_type>;
/** Whether a smart pointer is a std::shared_ptr, or a std::unique_ptr; this header does not include their header. */
template <typename T, typename = void> inline constexpr bool is_shared_pointer_v = false;
template <typename T>
inline constexpr bool is_shared_pointer_v<T, std::void_t<typename T::weak_type>> = is_of_standard_library<T>();
template <typename T, typename = void> inline constexpr bool is_unique_pointer_v = false;
template <typename T>
inline constexpr bool is_unique_pointer_v<T, std::void_t<typename T::deleter_type>> = is_of_standard_library<T>();
template <typename T, typename = void> inline constexpr bool is_optional_v = false;
template <typename T>
inline constexpr bool
    is_optional_v<T, std::void_t<typename T::value_type, decltype(std::declval<T>().has_value(), *std::declval<T>())>> =
        true;
template <typename T, typename = void> inline constexpr bool is_tuple_v = false;
template <typename T> inline constexpr bool is_tuple_v<T, std::void_t<decltype(std::tuple_size<T>::value)>> = true;
template <typename T, typename = void> inline constexpr bool is_range_v = false;
template <typename T>
inline constexpr bool is_range_v<T, std::void_t<typename T::value_type, decltype(std::declval<const T &>().begin())>> =
    !std::is_same_v<T, typename T::value_type>;

template <typename T> constexpr references kind_of_references();
template <typename T> inline constexpr bool has_references_v = kind_of_references<T>() != references::none;
template <typename T, size_t... I> constexpr bool has_part_with_references(std::index_sequence<I...>) {
  return (has_references_v<std::remove_cv_t<std::tuple_element_t<I, T>>> || ...);
}
template <typename T> constexpr references kind_of_references() {
  constexpr auto if_any = [](bool any, references kind) { return any ? kind : references::none; };
  if constexpr (references_in<T>::any) {
    return references::other;
  } else if constexpr (!std::is_class_v<T>) {
    return references::none;
  } else if constexpr (std::is_base_of_v<handle, T>) {
    return if_any(std::is_base_of_v<object, T>, references::object);
  } else if constexpr (is_smart_pointer_v<T>) {
    return if_any(has_references_v<std::remove_cv_t<typename T::element_type>>, references::pointer);
  } else if constexpr (is_optional_v<T>) {
    return if_any(has_references_v<typename T::value_type>, references::optional);
  } else if constexpr (is_range_v<T>) {
    return if_any(has_references_v<typename T::value_type>, references::range);
  } else if constexpr (is_tuple_v<T>) {
    return if_any(has_part_with_references<T>(std::make_index_sequence<std::tuple_size_v<T>>()), references::tuple);
  } else if constexpr (is_of_standard_library<T>()) {
    return references::none;
  } else {
    return if_any(is_base_caster_v<make_caster<T>>, references::bound);
  }
}

} // namespace detail

namespace detail {

/** Makes `get_deleter<T>(pointer)` a call that finds the function of the standard library. */
template <typename> void get_deleter(const references_in<void> &);

/** The value of a std::shared_ptr, for the collector. */
template <typename Pointer> struct shared_value final : ffi_hpy_shared {
  typename Pointer::weak_type pointer;
  typename Pointer::element_type *value;
  const object_owner *owner; /**< if the pointers share an object of Python */
  Pointer retained;

  explicit shared_value(const Pointer &of)
      : ffi_hpy_shared{&count_of, &visit_in, &retain_in, &release_in, &free_one}, pointer(of), value(of.get()),
        owner(get_deleter<object_owner>(of)) {}

private:
  static shared_value *of(ffi_hpy_shared *self) { return static_cast<shared_value *>(self); }
  static uint32_t count_of(const ffi_hpy_shared *self) {
    auto *shared = static_cast<const shared_value *>(self);
    return static_cast<uint32_t>(shared->pointer.use_count()) - (shared->retained != nullptr);
  }
  static void visit_in(const ffi_hpy_shared *self, const void *visitor);
  static void retain_in(ffi_hpy_shared *self) { of(self)->retained = of(self)->pointer.lock(); }
  static void release_in(ffi_hpy_shared *self) { of(self)->retained.reset(); }
  static void free_one(ffi_hpy_shared *self) { delete of(self); }
};
/** The address of the count of a std::shared_ptr, the second word in each standard library. */
template <typename Pointer> const void *count_block_of(const Pointer &pointer) {
  const void *words[2];
  static_assert(sizeof(pointer) == sizeof(words), "an unknown standard library");
  std::memcpy(words, static_cast<const void *>(&pointer), sizeof(words));
  return words[1];
}

} // namespace detail

/** Passes the objects that a value owns to the garbage collector of Python. */
class reference_visitor {
public:
  /** Visits an object of Python, a callable in a std::function, a bound object, or these in smart pointers and
   * containers of the standard library. */
  template <typename T> void operator()(const T &value) const {
    using detail::references;
    constexpr references kind = detail::kind_of_references<T>();
    static_assert(kind != references::none, "values of this type have no references to objects");
    if constexpr (kind == references::object) {
      visit_object(value);
    } else if constexpr (kind == references::pointer) {
      visit_pointer(value);
    } else if constexpr (kind == references::optional) {
      if (value.has_value()) (*this)(*value);
    } else if constexpr (kind == references::tuple) {
      visit_parts(value, std::make_index_sequence<std::tuple_size_v<T>>());
    } else if constexpr (kind == references::range) {
      for (const auto &each : value) (*this)(each);
    } else if constexpr (kind == references::bound) {
      detail::api->value_visit(detail::class_of<T>::find(), &value, this);
    } else {
      detail::references_in<T>::visit(value, *this);
    }
  }

  /** Whether members lose their references, because the value is garbage. */
  bool is_cutting() const { return take_ != nullptr; }
  /** Visits a reference to an object. The slot is the address of the member that owns it. */
  void visit_target(TVMFFIObject *target, const void *slot) const { visit_(arg_, target, slot); }
  /** Lets the collector release the former value of a member, when all members have been visited. */
  void take(void *former, void (*release)(void *former)) const { take_(arg_, former, release); }
  /** Visits a reference to a value that has its own count, at the address `block`. */
  void visit_shared(const void *block, const void *slot, ffi_hpy_shared *(*make)(const void *slot)) const {
    share_(arg_, block, slot, make);
  }

  /** Visits the value that a smart pointer owns, by the class of the whole object. */
  template <typename T> void visit_value(T &value) const {
    using Plain = std::remove_cv_t<T>;
    if constexpr (detail::is_base_caster_v<detail::make_caster<Plain>>) {
      void *whole = const_cast<Plain *>(&value);
      const ffi_hpy_class *type = detail::class_of<Plain>::find();
      try {
        if (type != nullptr) type = &detail::dynamic_class(&value, &whole);
      } catch (...) { /* no memory for the name of the class */
        whole = const_cast<Plain *>(&value);
      }
      detail::api->value_visit(type, whole, this);
    } else {
      visit_part<Plain>(value);
    }
  }

private:
  template <typename T, size_t... I> void visit_parts(const T &value, std::index_sequence<I...>) const {
    using std::get; /* the function of the type is found by its namespace */
    (visit_part(get<I>(value)), ...);
  }
  template <typename T> void visit_part(const T &part) const {
    if constexpr (detail::has_references_v<T>) (*this)(part);
  }
  void visit_object(const object &value) const {
    if (!detail::is_object(value.any())) return;
    if (!is_cutting()) return visit_target(value.any().v_obj, &value);
    auto &member = const_cast<object &>(value);
    TVMFFIObject *former = member.release().any().v_obj;
    member = detail::take(detail::none_value());
    take(former, nullptr);
  }
  template <typename Pointer> void visit_pointer(const Pointer &pointer) const {
    if constexpr (detail::is_unique_pointer_v<Pointer>) {
      if (pointer != nullptr) visit_value(*pointer);
    } else if constexpr (detail::is_shared_pointer_v<Pointer>) {
      visit_shared_pointer(pointer);
    } /* another class: its holders are not known */
  }
  template <typename Pointer> void visit_shared_pointer(const Pointer &pointer) const {
    if (pointer.use_count() == 0) return;
    if (is_cutting()) {
      if (auto *former = new (std::nothrow) Pointer(std::move(const_cast<Pointer &>(pointer)))) {
        take(former, [](void *taken) { delete static_cast<Pointer *>(taken); });
      }
      return;
    }
    visit_shared(detail::count_block_of(pointer), &pointer, [](const void *slot) -> ffi_hpy_shared * {
      return new (std::nothrow) detail::shared_value<Pointer>(*static_cast<const Pointer *>(slot));
    });
  }
  template <typename T> friend struct detail::shared_pointer;

  /* The struct that the collector makes, in C. */
  void (*visit_)(void *arg, TVMFFIObject *target, const void *slot);
  void *arg_;
  void (*take_)(void *arg, void *former, void (*release)(void *former));
  void (*share_)(void *arg, const void *block, const void *slot, ffi_hpy_shared *(*make)(const void *slot));
};

namespace detail {

template <typename Pointer> void shared_value<Pointer>::visit_in(const ffi_hpy_shared *self, const void *visitor) {
  auto *shared = static_cast<const shared_value *>(self);
  auto &visit = *static_cast<const reference_visitor *>(visitor);
  if (shared->owner == nullptr) return visit.visit_value(*shared->value);
  if (!visit.is_cutting()) visit(shared->owner->kept); /* the value lives as long as the pointers */
}
template <typename Pointer> void shared_pointer<Pointer>::visit(const void *visitor) const {
  auto &visit = *static_cast<const reference_visitor *>(visitor);
  if (!visit.is_cutting()) visit.visit_pointer(pointer);
}

} // namespace detail

namespace detail {

/** A function that visits a part of the values of a class, in the list of the class. */
template <typename F> struct traverse_step : ffi_hpy_traverse {
  F function;
  explicit traverse_step(F &&given) : ffi_hpy_traverse{}, function(std::forward<F>(given)) {}
};
/** Adds a function (const T &, const reference_visitor &) to a class. */
template <typename T, typename F> void add_traverse(const ffi_hpy_class *type, F function) {
  auto *step = new traverse_step<F>(std::move(function)); /* for the life of the process, as the class */
  step->visit = [](const ffi_hpy_traverse *self, const void *value, const void *visitor) {
    try {
      static_cast<const traverse_step<F> *>(self)->function(*static_cast<const T *>(value),
                                                            *static_cast<const reference_visitor *>(visitor));
    } catch (...) { /* the collector assumes that another holder has the other references */
    }
  };
  api->class_add_traverse(type, step);
}
/** Lets the collector visit the items of a bound container. */
template <typename Class> void visit_items(Class &bound) {
  using Container = typename Class::Type;
  if constexpr (has_references_v<Container>) {
    bound.def_traverse([](const Container &items, const reference_visitor &visit) { visit(items); });
  }
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_REFERENCES_H_ */
