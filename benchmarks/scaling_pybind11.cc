/* The rows of scaling.py as a pybind11 module; rows that need DLPack, which pybind11 lacks, are missing. */
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl_bind.h>

#include "scaling_rows.h"

namespace py = pybind11;

PYBIND11_MAKE_OPAQUE(Ints)
PYBIND11_MAKE_OPAQUE(Objects)
PYBIND11_MAKE_OPAQUE(TextMap)
PYBIND11_MAKE_OPAQUE(IntDict)

PYBIND11_MODULE(scaling_pybind11, m, py::mod_gil_not_used()) {
  m.def("nop", [] {});
  m.def("three", [](int64_t, int64_t, int64_t) {});
  m.def("echo_int", [](int64_t x) { return x; });
  m.def("take", [](const Pair &) {});
  m.def("echo", [](Pair &pair) -> Pair & { return pair; }, py::return_value_policy::reference);
  m.def("take_array", [](const py::array_t<float, py::array::c_style> &) {});
  m.def("call", [](const py::function &f) { return f(); });
  m.def("fail", [] { throw py::value_error("no"); });
  py::class_<Pair>(m, "Pair")
      .def(py::init([](int64_t a, int64_t b) { return Pair{a, b}; }))
      .def_readwrite("a", &Pair::a)
      .def_readwrite("b", &Pair::b)
      .def("sum", &Pair::Sum)
      .def("__deepcopy__", [](const Pair &pair, const py::dict &) { return pair; });
  py::class_<Point>(m, "Point")
      .def(py::init([](int64_t x, double y) { return Point{x, y}; }))
      .def_readwrite("x", &Point::x)
      .def_readwrite("y", &Point::y);
  py::class_<Record>(m, "Record")
      .def(py::init<int64_t, int64_t, std::string>())
      .def_readwrite("point", &Record::point)
      .def_readwrite("name", &Record::name);
  py::bind_vector<Ints>(m, "Ints");
  py::bind_vector<Objects>(m, "Objects");
  py::bind_map<TextMap>(m, "TextMap");
  py::bind_map<IntDict>(m, "IntDict");
}
