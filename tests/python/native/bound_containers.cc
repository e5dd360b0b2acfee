/* A library that is bound with ffi_hpy/bind.h: the module `bound_containers`. Iterators, and vectors and maps that
 * Python shares with C++. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/stl/bind_map.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/unordered_map.h>

#include <map>
#include <unordered_map>

namespace nb = ffi_hpy;

FFI_HPY_MAKE_OPAQUE(std::unordered_map<std::string, double>)
FFI_HPY_MAKE_OPAQUE(std::vector<std::string>);

namespace {

struct Words {
  std::unordered_map<std::string, std::string> all;
};
struct Squares { /* its items are values */
  struct iterator {
    int n;
    std::pair<int, int> operator*() const { return {n, n * n}; }
    iterator &operator++() {
      ++n;
      return *this;
    }
    bool operator==(const iterator &other) const { return n == other.n; }
  };
  iterator begin() const { return {0}; }
  iterator end() const { return {4}; }
};
struct Element {
  int a;
  static inline int n_alive = 0;
  static inline int n_copies_left = -1;
  explicit Element(int a) : a(a) { ++n_alive; }
  Element(const Element &other) : a(other.a) {
    if (n_copies_left == 0) throw std::runtime_error("no more copies");
    if (n_copies_left > 0) --n_copies_left;
    ++n_alive;
  }
  Element &operator=(const Element &) = default;
  ~Element() { --n_alive; }
};
struct Only { /* it is moved */
  int value;
  explicit Only(int value) : value(value) {}
  Only(Only &&) = default;
  Only &operator=(Only &&) = default;
};

} // namespace

FFI_HPY_MODULE(bound_containers, m) {
  nb::class_<Words>(m, "Words")
      .def("__init__",
           [](Words *self, std::unordered_map<std::string, std::string> all) { new (self) Words{std::move(all)}; })
      .def(
          "__iter__",
          [](const Words &w) {
            return nb::make_key_iterator(nb::type<Words>(), "KeyIterator", w.all.begin(), w.all.end());
          },
          nb::keep_alive<0, 1>())
      .def(
          "values",
          [](const Words &w) {
            return nb::make_value_iterator(nb::type<Words>(), "Values", w.all.begin(), w.all.end());
          },
          nb::keep_alive<0, 1>())
      .def(
          "same_items",
          [](const Words &w) { return nb::make_iterator(nb::type<Words>(), "Other", w.all.begin(), w.all.end()); },
          nb::keep_alive<0, 1>())
      .def(
          "items",
          [](const Words &w) {
            auto begin = w.all.begin(), end = w.all.end();
            return nb::make_iterator(nb::type<Words>(), "Items", begin, end);
          },
          nb::keep_alive<0, 1>());
  nb::class_<Squares>(m, "Squares")
      .def(nb::init<>())
      .def("__iter__", [](const Squares &s) { return nb::make_iterator(nb::type<Squares>(), "Items", s); })
      .def("keys",
           [](const Squares &s) { return nb::make_key_iterator(nb::type<Squares>(), "Keys", s.begin(), s.end()); })
      .def("values",
           [](const Squares &s) { return nb::make_value_iterator(nb::type<Squares>(), "Values", s.begin(), s.end()); });
  nb::handle scope = m;
  m.def("pass_on", [scope](nb::iterator it) -> nb::iterator {
    return nb::make_iterator(scope, "Passed", std::begin(it), std::end(it));
  });

  nb::class_<Element>(m, "Element").def(nb::init<int>()).def_rw("a", &Element::a);
  nb::class_<Only>(m, "Only").def(nb::init<int>()).def_rw("value", &Only::value);
  m.def("alive", [] { return Element::n_alive; });
  m.def("allow_copies", [](int n) { Element::n_copies_left = n; });
  nb::bind_vector<std::vector<unsigned>>(m, "Ints");
  nb::bind_vector<std::vector<bool>>(m, "Bools").def_prop_ro("first", [](const std::vector<bool> &v) -> bool {
    return v.at(0);
  });
  nb::bind_vector<std::vector<bool>>(m, "Again").def("has_all", [](const std::vector<bool> &v) {
    return std::find(v.begin(), v.end(), false) == v.end();
  });
  nb::bind_vector<std::vector<std::string>>(m, "Texts");
  nb::bind_vector<std::vector<Element>>(m, "Elements");
  nb::bind_vector<std::vector<std::vector<Element>>>(m, "Nested");
  nb::bind_vector<std::vector<std::shared_ptr<Element>>>(m, "Shared");
  nb::bind_vector<std::vector<Element *>>(m, "Pointers");
  m.def("pointers", [] {
    static Element elements[2]{Element(1), Element(2)};
    return std::vector<Element *>{&elements[0], &elements[1]};
  });
  nb::bind_vector<std::vector<Only>, nb::rv_policy::reference_internal>(m, "Onlies");
  m.def("onlies", [](int n) {
    std::vector<Only> made;
    for (int i = 1; i <= n; ++i) made.emplace_back(i);
    return made;
  });
  m.def("sum", [](const std::vector<unsigned> &v) {
    unsigned sum = 0;
    for (unsigned i : v) sum += i;
    return sum;
  });

  nb::bind_map<std::map<std::string, double>>(m, "Map");
  nb::bind_map<std::unordered_map<std::string, double>>(m, "HashMap");
  nb::bind_map<std::map<std::string, const double>>(m, "ConstMap");
  nb::bind_map<std::map<int, Element>>(m, "ElementMap").def("first", [](const std::map<int, Element> &map) {
    return map.begin()->first;
  });
  nb::bind_map<std::map<int, Only>, nb::rv_policy::reference_internal>(m, "OnlyMap");
  m.def("only_map", [](int n) {
    auto *made = new std::map<int, Only>;
    for (int i = 1; i <= n; ++i) made->emplace(i, Only(10 * i));
    return made;
  });
}
