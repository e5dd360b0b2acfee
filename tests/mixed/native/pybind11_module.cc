// The module of pybind11.
#define KIND "pybind11"
#include "shared.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

static py::object callback; // accessed only with the GIL

PYBIND11_MODULE(mixed_pybind11, m) {
  m.def("count_of", mixed::count_of);
  m.def("keep", mixed::keep);
  m.def("forget", mixed::forget);
  m.def("call_global", mixed::call_global, py::call_guard<py::gil_scoped_release>());
  m.def("error_of", mixed::error_of, py::call_guard<py::gil_scoped_release>());
  m.def("throw_error", mixed::throw_error);
  m.def("set_callback", [](py::object f) { callback = std::move(f); });
  mixed::ffi::Function::SetGlobal("ffi_hpy_mixed." KIND ".callback", mixed::ffi::Function::FromTyped([](int64_t x) {
                                    py::gil_scoped_acquire gil;
                                    return callback(x).cast<int64_t>();
                                  }));
}
