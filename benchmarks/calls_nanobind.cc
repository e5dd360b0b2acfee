/* The rows of calls.py and instructions.py as a nanobind module: functions of fixed types, nanobind's normal use. */
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string_view>

namespace nb = nanobind;
using namespace nb::literals;

struct Pair {
  int64_t a, b;
  Pair(int64_t a, int64_t b) : a(a), b(b) {}
  int64_t sum() const { return a + b; }
};

struct NamedPair : Pair {
  using Pair::Pair;
};

NB_MODULE(calls_nanobind, m) {
  nb::class_<Pair>(m, "Pair").def(nb::init<int64_t, int64_t>()).def_rw("a", &Pair::a).def("sum", &Pair::sum);
  nb::class_<NamedPair>(m, "NamedPair").def(nb::init<int64_t, int64_t>(), "a"_a, "b"_a = 2);
  m.def("take_named", [](int64_t, int64_t) {}, "a"_a, "b"_a = 2);
  m.def("nop", [] {});
  m.def("take_ints", [](int64_t, int64_t, int64_t) {});
  m.def("take_object", [](const Pair &) {});
  m.def("take_text", [](std::string_view) {});
  m.def("take_array", [](nb::ndarray<>) {});
  m.def("echo", [](int64_t x) { return x; });
  m.def("echo_float", [](double x) { return x; });
  m.def("echo_object", [](Pair *x) { return x; }, nb::rv_policy::reference);
  m.def("call", [](nb::callable f) { f(); });
}
