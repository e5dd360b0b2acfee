/* author_rows.h - the library of author.py. Each binder's file includes it, after the macros RW (def_rw) and BIND. */
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
};

struct NamedPair : Pair {
  using Pair::Pair;
};

enum class Color { red, green, blue };

using Ints = std::vector<int64_t>;

BIND(m) {
  using namespace nb::literals;
  nb::enum_<Color>(m, "Color").value("red", Color::red).value("green", Color::green).value("blue", Color::blue);
  nb::class_<Pair>(m, "Pair").def(nb::init<int64_t, int64_t>()).RW("a", &Pair::a).def("sum", &Pair::sum);
  nb::class_<NamedPair>(m, "NamedPair").def(nb::init<int64_t, int64_t>(), "a"_a, "b"_a = 2);
  m.def("nop", [] {});
  m.def("take_int", [](int64_t) {});
  m.def("take_ints", [](int64_t, int64_t, int64_t) {});
  m.def("take_named", [](int64_t, int64_t) {}, "a"_a, "b"_a = 2);
  m.def("take_text", [](const std::string &) {});
  m.def("echo_text", [](std::string x) { return x; });
  m.def("take_list", [](const Ints &) {});
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
  m.def("fail", [] { throw std::invalid_argument("no"); });
}

#endif /* FFI_HPY_BENCHMARKS_AUTHOR_ROWS_H_ */
