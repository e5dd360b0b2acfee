/* author_rows.h - the library of author.py. Each binder's file includes it, after the macros and Doubles. */
#ifndef FFI_HPY_BENCHMARKS_AUTHOR_ROWS_H_
#define FFI_HPY_BENCHMARKS_AUTHOR_ROWS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

struct Pair {
  int64_t a, b;
  Pair(int64_t a, int64_t b) : a(a), b(b) {}
  int64_t sum() const { return a + b; }
  int64_t dot(const Pair &other) const { return a * other.a + b * other.b; }
  Pair operator+(const Pair &other) const { return {a + other.a, b + other.b}; }
  bool operator==(const Pair &other) const { return a == other.a && b == other.b; }
};

struct NamedPair : Pair {
  using Pair::Pair;
};

enum class Color { red, green, blue };

using Ints = std::vector<int64_t>;

struct Numbers {
  Ints values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
};

struct Shape {
  virtual ~Shape() = default;
  virtual int64_t area(int64_t scale) const = 0;
};

struct PyShape : Shape {
  TRAMPOLINE(Shape);
  int64_t area(int64_t scale) const override { OVERRIDE(int64_t, Shape, area, scale); }
};

BIND(m) {
  using namespace nb::literals;
  nb::enum_<Color>(m, "Color").value("red", Color::red).value("green", Color::green).value("blue", Color::blue);
  nb::class_<Pair>(m, "Pair")
      .def(nb::init<int64_t, int64_t>())
      .RW("a", &Pair::a)
      .def("sum", &Pair::sum)
      .def("dot", &Pair::dot)
      .def("name", [](const Pair &, const std::string &) {})
      .def(nb::self + nb::self)
      .def(nb::self == nb::self);
  nb::class_<NamedPair>(m, "NamedPair").def(nb::init<int64_t, int64_t>(), "a"_a, "b"_a = 2);
  nb::class_<Numbers>(m, "Numbers")
      .def(nb::init<>())
      .def("__iter__", [](const Numbers &numbers) { return ITERATOR(numbers.values); }, nb::keep_alive<0, 1>());
  nb::class_<Shape, PyShape>(m, "Shape").def(nb::init<>()).def("area", &Shape::area);
  m.def("area_of", [](const Shape &shape) { return shape.area(3); });
  m.def("take_array", [](Doubles) {});
  m.def("echo_array", [](Doubles x) { return x; });
  m.def("nop", [] {});
  m.def("take_int", [](int64_t) {});
  m.def("take_ints", [](int64_t, int64_t, int64_t) {});
  m.def("take_named", [](int64_t, int64_t) {}, "a"_a, "b"_a = 2);
  m.def("take_text", [](const std::string &) {});
  m.def("echo_text", [](std::string x) { return x; });
  m.def("take_list", [](const Ints &) {});
  m.def("take_pairs", [](const std::vector<Pair> &) {});
  m.def("make_list", [] { return Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; });
  m.def("echo_list", [](Ints x) { return x; });
  m.def("echo_dict", [](std::map<int64_t, int64_t> x) { return x; });
  m.def("echo_set", [](std::set<int64_t> x) { return x; });
  m.def("echo_tuple", [](std::tuple<int64_t, double, bool> x) { return x; });
  m.def("echo_color", [](Color x) { return x; });
  m.def("overloaded", [](int64_t) { return 1; });
  m.def("overloaded", [](double) { return 2; });
  m.def("overloaded", [](const std::string &) { return 3; });
  m.def("call", [](const std::function<int64_t(int64_t)> &f) { return f(1); });
  m.def("call_object", [](const nb::object &f) { f(); });
  m.def("append_each", [] {
    nb::list made;
    for (int i = 0; i < 10; ++i) made.append(i);
    return made;
  });
  m.def("set_each", [] {
    nb::dict made;
    for (int i = 0; i < 10; ++i) made[nb::int_(i)] = i;
    return made;
  });
  m.def("add_each", [](const nb::list &numbers) {
    int64_t sum = 0;
    for (nb::handle each : numbers) sum += nb::cast<int64_t>(each);
    return sum;
  });
  m.def("read_each", [](const nb::object &object) {
    int64_t sum = 0;
    for (int i = 0; i < 10; ++i) sum += nb::cast<int64_t>(object.attr("attribute"));
    return sum;
  });
  m.def("call_each", [](const nb::object &function) {
    int64_t sum = 0;
    for (int i = 0; i < 10; ++i) sum += nb::cast<int64_t>(function(i));
    return sum;
  });
  m.def("fail", [] { throw std::invalid_argument("no"); });
}

#endif /* FFI_HPY_BENCHMARKS_AUTHOR_ROWS_H_ */
