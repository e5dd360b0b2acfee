/* A function for each kind of value that returns its argument: the module `bound_results`, whose stub is tested. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/chrono.h>
#include <ffi_hpy/stl/complex.h>
#include <ffi_hpy/stl/filesystem.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

struct Point {};
enum class Color { red, green };

template <typename T> void echo(nb::module_ &m, const char *name) {
  m.def(name, [](T value) { return value; }, "value"_a);
}

} // namespace

FFI_HPY_MODULE(bound_results, m) {
  nb::class_<Point>(m, "Point").def(nb::init<>());
  nb::enum_<Color>(m, "Color").value("red", Color::red).value("green", Color::green);
  echo<bool>(m, "truth");
  echo<int8_t>(m, "number");
  echo<float>(m, "real");
  echo<std::string>(m, "text");
  echo<std::complex<double>>(m, "complex_number");
  echo<std::vector<std::vector<double>>>(m, "rows");
  echo<std::vector<Color>>(m, "colors");
  echo<std::array<int, 2>>(m, "two");
  echo<std::pair<std::string, int>>(m, "pair");
  echo<std::tuple<>>(m, "nothing");
  echo<std::map<std::pair<int, int>, int>>(m, "table");
  echo<std::set<int>>(m, "numbers");
  echo<std::optional<std::vector<int>>>(m, "perhaps");
  echo<std::variant<std::monostate, double>>(m, "either");
  echo<std::chrono::milliseconds>(m, "duration");
  echo<std::chrono::system_clock::time_point>(m, "moment");
  echo<std::filesystem::path>(m, "path");
  echo<std::shared_ptr<Point>>(m, "point");
  echo<Color>(m, "color");
  echo<std::function<int(std::vector<int>)>>(m, "function");
  echo<nb::bytes>(m, "data");
  echo<nb::tuple>(m, "any_tuple");
  echo<nb::list>(m, "any_list");
  echo<nb::dict>(m, "any_dict");
  echo<nb::set>(m, "any_set");
  echo<nb::frozenset>(m, "any_frozenset");
  echo<nb::slice>(m, "part");
  echo<nb::ndarray<nb::numpy, double>>(m, "array");
  echo<nb::iterator>(m, "any_iterator");
  echo<nb::typed<nb::iterator, int>>(m, "iterator_of_ints");
  m.def("made_iterator", [] {
    static const std::vector<int> numbers = {1, 2};
    return nb::make_iterator(nb::type<Point>(), "Numbers", numbers.begin(), numbers.end());
  });
  m.def("no_value", [] {});
  m.def("made", [] { return std::make_unique<Point>(); });
  m.def("all", [](const nb::args &args, const nb::kwargs &) { return args; });
  m.def("named", [](int a, int b) { return a - b; }, "a"_a, nb::kw_only(), "b"_a);
  m.def("unnamed", [](int a, const nb::args &) { return a; });
}
