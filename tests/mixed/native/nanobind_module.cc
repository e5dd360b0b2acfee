// The module of nanobind.
#define KIND "nanobind"
#include "shared.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

static PyObject *callback = nullptr; // accessed only with the GIL

NB_MODULE(mixed_nanobind, m) {
  m.def("count_of", mixed::count_of);
  m.def("keep", mixed::keep);
  m.def("forget", mixed::forget);
  m.def("call_global", mixed::call_global, nb::call_guard<nb::gil_scoped_release>());
  m.def("error_of", mixed::error_of, nb::call_guard<nb::gil_scoped_release>());
  m.def("throw_error", mixed::throw_error);
  m.def(
      "set_callback",
      [](nb::object f) {
        Py_XDECREF(callback);
        callback = f.release().ptr();
      },
      nb::arg("f").none());
  mixed::ffi::Function::SetGlobal("ffi_hpy_mixed." KIND ".callback", mixed::ffi::Function::FromTyped([](int64_t x) {
                                    nb::gil_scoped_acquire gil;
                                    return nb::cast<int64_t>(nb::handle(callback)(x));
                                  }));
}
