/* The rows of scaling.py as a nanobind module with nanobind's defaults: using an object does not lock it. */
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/bind_map.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/string.h>

#include "scaling_rows.h"

namespace nb = nanobind;

NB_MAKE_OPAQUE(Ints)
NB_MAKE_OPAQUE(Objects)
NB_MAKE_OPAQUE(TextMap)
NB_MAKE_OPAQUE(IntDict)

using Floats = nb::ndarray<float, nb::ndim<1>, nb::c_contig>;

NB_MODULE(scaling_nanobind, m) {
  m.def("nop", [] {});
  m.def("three", [](int64_t, int64_t, int64_t) {});
  m.def("echo_int", [](int64_t x) { return x; });
  m.def("take", [](const Pair &) {});
  m.def("echo", [](Pair &pair) -> Pair & { return pair; }, nb::rv_policy::reference);
  m.def("take_array", [](const Floats &) {});
  m.def("from_dlpack", [](const Floats &array) { return nb::ndarray<nb::array_api, float>(array); });
  m.def("call", [](const nb::callable &f) { return f(); });
  m.def("fail", [] { throw nb::value_error("no"); });
  nb::class_<Pair>(m, "Pair")
      .def("__init__", [](Pair *pair, int64_t a, int64_t b) { new (pair) Pair{a, b}; })
      .def_rw("a", &Pair::a)
      .def_rw("b", &Pair::b)
      .def("sum", &Pair::Sum)
      .def("__deepcopy__", [](const Pair &pair, const nb::dict &) { return pair; });
  nb::class_<Point>(m, "Point")
      .def("__init__", [](Point *point, int64_t x, double y) { new (point) Point{x, y}; })
      .def_rw("x", &Point::x)
      .def_rw("y", &Point::y);
  nb::class_<Record>(m, "Record")
      .def(nb::init<int64_t, int64_t, std::string>())
      .def_rw("point", &Record::point)
      .def_rw("name", &Record::name);
  nb::bind_vector<Ints>(m, "Ints");
  nb::bind_vector<Objects, nb::rv_policy::reference_internal>(m, "Objects");
  nb::bind_map<TextMap>(m, "TextMap");
  nb::bind_map<IntDict>(m, "IntDict");
}
