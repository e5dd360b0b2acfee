/* A library with two modules: bound_several, and bound_other under another name of the file. */
#include <ffi_hpy/bind.h>

namespace nb = ffi_hpy;

namespace {

struct Part {
  int size = 3;
};

} // namespace

FFI_HPY_MODULE(bound_several, m) { nb::class_<Part>(m, "Part").def(nb::init<>()); }
FFI_HPY_MODULE(bound_other, m) {
  m.def("size", [](const Part &part) { return part.size; });
}
