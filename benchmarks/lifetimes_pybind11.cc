/* The classes of lifetimes.py as a pybind11 module, bound without a type slot for the garbage collector. */
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "lifetimes_classes.h"

namespace py = pybind11;

PYBIND11_MODULE(lifetimes_pybind11, m) {
  py::class_<Button, std::shared_ptr<Button>>(m, "Button")
      .def(py::init<>())
      .def_readwrite("on_click", &Button::on_click);
  py::class_<Window, std::shared_ptr<Window>>(m, "Window").def(py::init<>()).def_readwrite("button", &Window::button);
  py::class_<Subject, std::shared_ptr<Subject>>(m, "Subject")
      .def(py::init<>())
      .def_readonly("observers", &Subject::observers)
      .def_readonly("named", &Subject::named)
      .def("add", &Subject::Add)
      .def("name", &Subject::Name);
  py::class_<Gate, std::shared_ptr<Gate>>(m, "Gate").def(py::init<>()).def_readwrite("check", &Gate::check);
  py::class_<Node, std::shared_ptr<Node>>(m, "Node").def(py::init<>()).def_readwrite("next", &Node::next);
  py::class_<Shape, std::shared_ptr<Shape>>(m, "Shape").def(py::init<>());
  py::class_<Canvas, std::shared_ptr<Canvas>>(m, "Canvas")
      .def(py::init<>())
      .def("add", &Canvas::Add)
      .def("last", &Canvas::Last);
  m.def("alive", [] { return n_alive.load(); });
}
