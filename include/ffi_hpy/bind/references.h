/* references.h - the objects that a C++ value owns, for the garbage collector of Python. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_REFERENCES_H_
#define FFI_HPY_BIND_REFERENCES_H_

#include <ffi_hpy/bind/instance.h>

#include <memory>
#include <tuple>
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
    return if_any(std::is_base_of_v<class_caster_tag, make_caster<T>>, references::bound);
  }
}

} // namespace detail

/** Passes the objects that a value owns to the garbage collector of Python. */
class reference_visitor {
public:
  /** Visits an object of Python, a callable in a std::function, a bound object, or these in smart pointers and
   * containers of the standard library. A value that other smart pointers share is left out. */
  template <typename T> void operator()(const T &value) const {
    using detail::references;
    constexpr references kind = detail::kind_of_references<T>();
    static_assert(kind != references::none, "values of this type have no references to objects");
    if constexpr (kind == references::object) {
      if (detail::is_object(value.any())) visit_(arg_, static_cast<TVMFFIObject *>(value.any().v_obj));
    } else if constexpr (kind == references::pointer) {
      visit_pointer(value);
    } else if constexpr (kind == references::optional) {
      if (value.has_value()) (*this)(*value);
    } else if constexpr (kind == references::tuple) {
      std::apply([this](const auto &...parts) { (visit_part(parts), ...); }, value);
    } else if constexpr (kind == references::range) {
      for (const auto &each : value) (*this)(each);
    } else if constexpr (kind == references::bound) {
      detail::api->value_visit(detail::class_of<T>::find(), &value, this);
    } else {
      detail::references_in<T>::visit(value, *this);
    }
  }

private:
  template <typename T> void visit_part(const T &part) const {
    if constexpr (detail::has_references_v<T>) (*this)(part);
  }
  template <typename T, typename Deleter> void visit_pointer(const std::unique_ptr<T, Deleter> &pointer) const {
    if (pointer != nullptr) (*this)(*pointer);
  }
  template <typename T> void visit_pointer(const std::shared_ptr<T> &pointer) const {
    if (pointer.use_count() != 1) return; /* others would keep what is behind it */
    if (auto *owner = std::get_deleter<detail::object_owner>(pointer)) return (*this)(owner->kept);
    (*this)(*pointer);
  }
  template <typename T> void visit_pointer(const T &) const {} /* another one: its holders are not known */

  /* The struct that the core passes. */
  void (*visit_)(void *arg, TVMFFIObject *target);
  void *arg_;
};

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
    static_cast<const traverse_step<F> *>(self)->function(*static_cast<const T *>(value),
                                                          *static_cast<const reference_visitor *>(visitor));
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
