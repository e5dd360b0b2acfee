/* bind_map.h - bind_map<std::map<K, V>>(m, "Map"): a map as a class of Python with the methods of a dict. Python and
 * C++ share the map; stl/map.h copies it. */
#ifndef FFI_HPY_STL_BIND_MAP_H_
#define FFI_HPY_STL_BIND_MAP_H_

#include <ffi_hpy/stl/bind_vector.h>

#include <map>
#include <optional>
#include <unordered_map>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename... T> struct is_bound_container<std::map<T...>> : std::true_type {};
template <typename... T> struct is_bound_container<std::unordered_map<T...>> : std::true_type {};

/** Sets a value, also one that cannot be assigned. */
template <typename Map, typename K, typename V> void set_item(Map &map, const K &key, const V &value) {
  if constexpr (std::is_copy_assignable_v<typename Map::mapped_type>) {
    map.insert_or_assign(key, value);
  } else {
    auto known = map.find(key);
    if (known != map.end() && &known->second == &value) return;
    if (known != map.end()) map.erase(known);
    map.emplace(key, value);
  }
}

/** A mapping, of which a map is made. Signatures in nanobind's namespace call it a dict, as nanobind's do. */
#if defined(FFI_HPY_BIND_PY_OBJECT)
class map_source : public mapping {
  FFI_HPY_OBJECT(map_source, mapping, "dict", mapping::check_(value))
};
#else
using map_source = mapping;
#endif

/** The view of a map: 'k' keys, 'v' values, 'i' items. */
template <typename Map, char kind> struct map_view {
  object owner;
  Map *map;
};

/** An iterator by key, which notices changes of the map. */
template <typename Map, char kind, rv_policy policy> struct map_iterator {
  object owner;
  Map *map;
  size_t size;
  typename Map::iterator at{};                 /* the last item, until the lock of its step ends */
  std::optional<typename Map::key_type> key{}; /* of the last item */
  const char *failure = nullptr;
  bool is_done = false;

  static map_iterator over(const object &owner, Map *map) {
    ft_object_guard lock(owner);
    return map_iterator{owner, map, map->size()};
  }
  /* Whether the end is reached; otherwise `at` is the next item. */
  bool advance() {
    if (is_done) return true;
    if (failure == nullptr && map->size() != size) failure = "the map changed size during iteration";
    at = map->begin();
    if (failure == nullptr && key.has_value()) {
      at = map->find(*key);
      if (at == map->end()) {
        failure = "the keys changed during iteration";
      } else {
        ++at;
      }
    }
    if (failure != nullptr) throw std::runtime_error(failure);
    is_done = at == map->end();
    if (!is_done) key.emplace(at->first);
    return is_done;
  }
};

template <typename Map, char kind, rv_policy policy, typename Class> void bind_map_view(Class &cl, const char *name) {
  using V = typename Map::mapped_type;
  using View = map_view<Map, kind>;
  using Iterator = map_iterator<Map, kind, policy>;
  constexpr rv_policy chosen = shared_item_policy<std::remove_cv_t<V>>(policy);
  constexpr const char *iterator_name = kind == 'k' ? "KeyIterator" : kind == 'v' ? "ValueIterator" : "ItemIterator";
  class_<Iterator>(cl, iterator_name)
      .def("__iter__", [](handle whole) { return whole; })
      .def(
          "__next__",
          [](Iterator &it) {
            return next_item{ft_object_guard(it.owner), it.advance(), [&it]() -> decltype(auto) {
                               if constexpr (kind == 'k') {
                                 return typename Map::key_type(it.at->first);
                               } else if constexpr (kind == 'v') {
                                 return static_cast<V &>(it.at->second);
                               } else {
                                 return std::pair<const typename Map::key_type &, V &>(it.at->first, it.at->second);
                               }
                             }};
          },
          chosen);
  class_<View> view(cl, name);
  view.def("__len__", [](const View &v) {
    ft_object_guard lock(v.owner);
    return v.map->size();
  });
  view.def("__iter__", [](const View &v) { return Iterator::over(v.owner, v.map); });
  if constexpr (kind == 'k') {
    view.def("__contains__", [](const View &v, const typename Map::key_type &key) {
      ft_object_guard lock(v.owner);
      return v.map->count(key) != 0;
    });
  } else {
    view.def(
        "__contains__",
        [](handle whole, handle value) {
          for (handle each : whole) {
            if (each.equal(value)) return true;
          }
          return false;
        },
        arg().none());
  }
  if constexpr (kind == 'k') view.def("__contains__", [](const View &, handle) { return false; }, arg().none());
}

} // namespace detail

/** Binds a map. Values are copied, unless the policy is reference_internal. A second call for the same map returns the
 * first class. Each method, and each step of an iterator, locks the map (lock_self). */
template <typename Map, rv_policy policy = rv_policy::automatic_reference, typename... Extra>
class_<Map> bind_map(handle scope, const char *name, const Extra &...extra) {
  using K = typename Map::key_type;
  using V = typename Map::mapped_type;
  using detail::map_iterator;
  using detail::map_view;
  constexpr rv_policy chosen = detail::shared_item_policy<std::remove_cv_t<V>>(policy);
  if (handle known = type<Map>(); known.is_valid()) return borrow<class_<Map>>(known);

  class_<Map> cl(scope, name, extra...);
  detail::visit_items(cl);
  detail::bind_map_view<Map, 'k', policy>(cl, "KeyView");
  detail::bind_map_view<Map, 'v', policy>(cl, "ValueView");
  detail::bind_map_view<Map, 'i', policy>(cl, "ItemView");
  cl.def(init<>(), "Makes an empty container.");
  cl.def("__len__", [](const Map &m) { return m.size(); }, lock_self());
  cl.def("__bool__", [](const Map &m) { return !m.empty(); }, lock_self(), "Whether there is an item.");
  cl.def("__repr__", [](handle whole) { return detail::ask_python("dict_repr", whole); });
  cl.def("__contains__", [](const Map &m, const K &key) { return m.count(key) != 0; }, lock_self());
  cl.def("__contains__", [](const Map &, handle) { return false; }, arg().none()); /* a key of another type */
  cl.def("__iter__",
         [](handle whole) { return map_iterator<Map, 'k', policy>::over(borrow(whole), cast<Map *>(whole)); });
  cl.def(
      "__getitem__",
      [](Map &m, const K &key) -> V & {
        auto found = m.find(key);
        if (found == m.end()) throw key_error("the key is not in the container");
        return found->second;
      },
      chosen, lock_self());
  cl.def(
      "__delitem__",
      [](Map &m, const K &key) {
        if (m.erase(key) == 0) throw key_error("the key is not in the container");
      },
      lock_self());
  cl.def("clear", [](Map &m) { m.clear(); }, lock_self(), "Removes all items.");
  cl.def("keys", [](handle whole) { return map_view<Map, 'k'>{borrow(whole), cast<Map *>(whole)}; }, "The keys.");
  cl.def("values", [](handle whole) { return map_view<Map, 'v'>{borrow(whole), cast<Map *>(whole)}; }, "The values.");
  cl.def(
      "items", [](handle whole) { return map_view<Map, 'i'>{borrow(whole), cast<Map *>(whole)}; }, "Keys and values.");

  if constexpr (detail::is_copy_constructible_v<std::remove_cv_t<V>>) {
    cl.def(init<const Map &>(), arg().lock(), "Copies another container.");
    cl.def(
        "__init__",
        [](Map *whole, typed<detail::map_source, K, V> items) {
          Map made;
          for (dict::pairs pair(items), end; pair != end; ++pair) {
            auto [key, value] = *pair;
            made.emplace(cast<K>(key), cast<std::remove_cv_t<V>>(value));
          }
          new (whole) Map(std::move(made));
        },
        "Makes a container of the items of a mapping.");
    implicitly_convertible<mapping, Map>();
    cl.def("__setitem__", [](Map &m, const K &key, const V &value) { detail::set_item(m, key, value); }, lock_self());
    cl.def(
        "update",
        [](Map &m, const Map &other) {
          for (const auto &[key, value] : other) detail::set_item(m, key, value);
        },
        lock_self(), arg().lock(), "Sets the items of another container.");
  }
  if constexpr (detail::is_equality_comparable_v<std::remove_cv_t<V>>) {
    cl.def("__eq__", [](const Map &a, const Map &b) { return a == b; }, is_operator(), lock_self(), arg().lock());
    cl.def("__ne__", [](const Map &a, const Map &b) { return !(a == b); }, is_operator(), lock_self(), arg().lock());
  }
  return cl;
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_BIND_MAP_H_ */
