/* bind_vector.h - bind_vector<std::vector<T>>(m, "Ts"): a vector as a class of Python with the methods of a list.
 * Python and C++ share the vector; stl/vector.h copies it. */
#ifndef FFI_HPY_STL_BIND_VECTOR_H_
#define FFI_HPY_STL_BIND_VECTOR_H_

#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/stl/detail.h>

#include <algorithm>
#include <vector>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename T, typename... Rest> struct is_bound_container<std::vector<T, Rest...>> : std::true_type {};

/** A position that may count from the end. `end`: the position after the last item is valid, too. */
inline size_t wrap(int64_t at, size_t size, bool end = false) {
  auto n = static_cast<int64_t>(size);
  if (at < 0) at += n;
  if (at < 0 || at > n || (at == n && !end)) throw index_error("index out of range");
  return static_cast<size_t>(at);
}

template <typename T, typename = void> inline constexpr bool is_equality_comparable_v = false;
template <typename T>
inline constexpr bool
    is_equality_comparable_v<T, std::void_t<decltype(std::declval<const T &>() == std::declval<const T &>())>> = true;
/* The operator of a container is declared for items of any type. */
template <typename T, typename... Rest>
inline constexpr bool is_equality_comparable_v<std::vector<T, Rest...>, void> = is_equality_comparable_v<T>;

/** The values of an iterable of Python. */
template <typename Vector> Vector vector_from(handle source) {
  using T = typename Vector::value_type;
  Vector made;
  if constexpr (is_copy_constructible_v<T>) {
    sequence items;
    if (hasattr(source, "__next__") || !items.read_iterable(source, takes_python_v<T>)) {
      /* an iterator may be endless, so a wrong item must end the loop; or a class that only has `__getitem__` */
      for (handle item : source) made.push_back(cast<T>(item));
      return made;
    }
    size_t i = read_numbers(&made, items, cast_flags::convert);
    reserve(&made, items.size());
    for (; i < items.size(); ++i) made.push_back(cast<T>(items[i]));
  }
  return made;
}

/** The policy of an item that a method returns: bool is a value, and a pointer refers to its object. */
template <typename T> constexpr rv_policy shared_item_policy(rv_policy policy) {
  if (!is_base_caster_v<make_caster<T>>) return rv_policy::copy;
  if (std::is_pointer_v<T>) return policy;
  return policy == rv_policy::automatic || policy == rv_policy::automatic_reference ? rv_policy::copy : policy;
}

/** An iterator by position, which stays valid while the vector changes. */
template <rv_policy policy, typename Vector> struct vector_iterator {
  object owner;
  Vector *vector;
  size_t n_read = 0;

  /* Whether the end is reached; otherwise the next item is at n_read - 1. */
  bool advance() {
    bool is_end = n_read >= vector->size();
    n_read = is_end ? SIZE_MAX : n_read + 1; /* the iterator stays at the end if the vector grows */
    return is_end;
  }
};

} // namespace detail

/** Binds a vector. Items are copied, unless they are pointers or the policy is reference_internal. A second call for
 * the same vector returns the first class. Each method, and each step of an iterator, locks the vector (lock_self). */
template <typename Vector, rv_policy policy = rv_policy::automatic_reference, typename... Extra>
class_<Vector> bind_vector(handle scope, const char *name, const Extra &...extra) {
  using T = typename Vector::value_type;
  using Reference = decltype(std::declval<Vector &>()[0]);
  using Item = std::conditional_t<std::is_reference_v<Reference>, Reference, T>; /* not of vector<bool> */
  using Iterator = detail::vector_iterator<policy, Vector>;
  constexpr rv_policy chosen = detail::shared_item_policy<T>(policy);
  if (handle known = type<Vector>(); known.is_valid()) return borrow<class_<Vector>>(known);

  class_<Vector> cl(scope, name, extra...);
  detail::visit_items(cl);
  cl.def(init<>(), "Makes an empty container.");
  cl.def("__len__", [](const Vector &v) { return v.size(); }, lock_self());
  cl.def("__bool__", [](const Vector &v) { return !v.empty(); }, lock_self(), "Whether there is an item.");
  cl.def("__repr__", [](handle whole) { return detail::ask_python("list_repr", whole); });
  class_<Iterator>(cl, "Iterator")
      .def("__iter__", [](handle whole) { return whole; })
      .def(
          "__next__",
          [](Iterator &it) {
            return detail::next_item{ft_object_guard(it.owner), it.advance(),
                                     [&it]() -> Item { return (*it.vector)[it.n_read - 1]; }};
          },
          chosen);
  cl.def("__iter__", [](handle whole) { return Iterator{borrow(whole), cast<Vector *>(whole)}; });
  cl.def(
      "__getitem__", [](Vector &v, int64_t at) -> Item { return v[detail::wrap(at, v.size())]; }, chosen, lock_self());
  cl.def("clear", [](Vector &v) { v.clear(); }, lock_self(), "Removes all items.");

  if constexpr (detail::is_copy_constructible_v<T>) {
    cl.def(init<const Vector &>(), arg().lock(), "Copies another container.");
    cl.def(
        "__init__",
        [](Vector *whole, typed<iterable, T> items) { new (whole) Vector(detail::vector_from<Vector>(items)); },
        "Makes a container of the items of an iterable.");
    implicitly_convertible<iterable, Vector>();
    cl.def("append", [](Vector &v, const T &value) { v.push_back(value); }, lock_self(), "Adds an item at the end.");
    cl.def(
        "insert",
        [](Vector &v, int64_t at, const T &value) {
          v.insert(v.begin() + static_cast<std::ptrdiff_t>(detail::wrap(at, v.size(), true)), value);
        },
        lock_self(), "Inserts an item at a position.");
    cl.def(
        "pop",
        [](Vector &v, int64_t at) {
          auto where = v.begin() + static_cast<std::ptrdiff_t>(detail::wrap(at, v.size()));
          T value = std::move(*where);
          v.erase(where);
          return value;
        },
        lock_self(), arg("index") = -1, "Removes the item at a position and returns it.");
    cl.def(
        "extend",
        [](Vector &v, const Vector &other) {
          Vector copy(other); /* it may be v */
          v.insert(v.end(), copy.begin(), copy.end());
        },
        lock_self(), arg().lock(), "Adds the items of another container.");
    cl.def(
        "__setitem__", [](Vector &v, int64_t at, const T &value) { v[detail::wrap(at, v.size())] = value; },
        lock_self());
    cl.def(
        "__getitem__",
        [](const Vector &v, const slice &part) {
          auto [start, stop, step, n] = part.compute(v.size()).values;
          (void)stop;
          Vector made;
          made.reserve(static_cast<size_t>(n));
          for (int64_t i = 0; i < n; ++i) made.push_back(v[static_cast<size_t>(start + i * step)]);
          return made;
        },
        lock_self());
    cl.def(
        "__setitem__",
        [](Vector &v, const slice &part, const Vector &values) {
          auto [start, stop, step, n] = part.compute(v.size()).values;
          (void)stop;
          if (static_cast<size_t>(n) != values.size())
            throw value_error("the slice and the values have different lengths");
          Vector copy(values); /* it may be v */
          for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(start + i * step)] = copy[static_cast<size_t>(i)];
        },
        lock_self(), arg(), arg().lock());
  }
  if constexpr (std::is_move_assignable_v<T>) {
    cl.def(
        "__delitem__",
        [](Vector &v, int64_t at) { v.erase(v.begin() + static_cast<std::ptrdiff_t>(detail::wrap(at, v.size()))); },
        lock_self());
    cl.def(
        "__delitem__",
        [](Vector &v, const slice &part) {
          auto [start, stop, step, n] = part.compute(v.size()).values;
          (void)stop;
          if (step < 0 && n > 0) start += (n - 1) * step, step = -step;
          for (int64_t i = n; i-- > 0;) v.erase(v.begin() + static_cast<std::ptrdiff_t>(start + i * step));
        },
        lock_self());
  }
  if constexpr (detail::is_equality_comparable_v<T>) {
    cl.def("__eq__", [](const Vector &a, const Vector &b) { return a == b; }, is_operator(), lock_self(), arg().lock());
    cl.def(
        "__ne__", [](const Vector &a, const Vector &b) { return !(a == b); }, is_operator(), lock_self(), arg().lock());
    cl.def(
        "__contains__", [](const Vector &v, const T &value) { return std::find(v.begin(), v.end(), value) != v.end(); },
        lock_self());
    cl.def("__contains__", [](const Vector &, handle) { return false; }, arg().none()); /* a value of another type */
    cl.def(
        "count", [](const Vector &v, const T &value) { return std::count(v.begin(), v.end(), value); }, lock_self(),
        "The number of items that are equal to a value.");
    cl.def(
        "remove",
        [](Vector &v, const T &value) {
          auto where = std::find(v.begin(), v.end(), value);
          if (where == v.end()) throw value_error("the value is not in the container");
          v.erase(where);
        },
        lock_self(), "Removes the first item that is equal to a value.");
  }
  return cl;
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_BIND_VECTOR_H_ */
