/* A library whose definitions fail in the way that the environment names: the module `bound_badly`. */
#include <ffi_hpy/bind.h>

#include <cstdlib>

namespace nb = ffi_hpy;

namespace {

enum class Letter { a, b };

Letter fail() { throw std::invalid_argument("made no letter"); }

} // namespace

FFI_HPY_MODULE(bound_badly, m) {
  std::string way = std::getenv("BOUND_BADLY");
  if (way == "name") nb::enum_<Letter>(m, "Letter").value("a", Letter::a).value("a", Letter::b);
  if (way == "value") nb::enum_<Letter>(m, "Letter").value("a", Letter::a).value("a", Letter::b).value("c", fail());
  if (way == "default") m.def("f", [](uint8_t x) { return x; }, nb::arg("x") = 256);
  if (way == "base") nb::exception<std::runtime_error>(m, "Error", "NoSuchError");
}
