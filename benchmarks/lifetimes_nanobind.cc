/* The classes of lifetimes.py as a nanobind module, bound without a type slot for the garbage collector. */
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lifetimes_classes.h"

namespace nb = nanobind;

NB_MODULE(lifetimes_nanobind, m) {
  nb::set_leak_warnings(false);
  nb::class_<Button>(m, "Button").def(nb::init<>()).def_rw("on_click", &Button::on_click);
  nb::class_<Window>(m, "Window").def(nb::init<>()).def_rw("button", &Window::button);
  nb::class_<Subject>(m, "Subject")
      .def(nb::init<>())
      .def_ro("observers", &Subject::observers)
      .def_ro("named", &Subject::named)
      .def("add", &Subject::Add)
      .def("name", &Subject::Name);
  nb::class_<Gate>(m, "Gate").def(nb::init<>()).def_rw("check", &Gate::check);
  nb::class_<Node>(m, "Node").def(nb::init<>()).def_rw("next", &Node::next);
  nb::class_<Shape>(m, "Shape").def(nb::init<>());
  nb::class_<Canvas>(m, "Canvas").def(nb::init<>()).def("add", &Canvas::Add).def("last", &Canvas::Last);
  m.def("alive", [] { return n_alive.load(); });
}
