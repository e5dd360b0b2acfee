/* A library that is bound with ffi_hpy/bind.h and has one of everything that a stub shows: the module `stubbed`. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

enum class Color { red = 1, green = 2 };
enum class Size { small, large };

struct Shape {
  std::string label = "x";
  std::vector<double> sides;
  virtual ~Shape() = default;
  int count() const { return static_cast<int>(sides.size()); }
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  Square(double side, Color color) : side(side), color(color) {}
  double side;
  Color color = Color::red;
};
struct Part {};
struct Unbound {};
template <typename A, typename B> struct UnboundPair {};
struct TooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace

FFI_HPY_MODULE(stubbed, m) {
  nb::enum_<Color>(m, "Color", "A \"color\".").value("red", Color::red).value("green", Color::green, "Like grass.");
  nb::exception<TooSmall>(m, "TooSmall", "ValueError");

  nb::class_<Shape> shape(m, "Shape", "A shape.\n\nWith sides.");
  nb::enum_<Size>(shape, "Size").value("small", Size::small).value("large", Size::large);
  nb::class_<Part>(shape, "Part")
      .def(nb::init<>())
      .def("of", [](Part &, Shape *shape) { return shape; }, "shape"_a.none());
  shape.def(nb::init<>(), "Makes a shape.")
      .def_rw("sides", &Shape::sides, "Lengths.")
      .def_ro("label", &Shape::label)
      .def("count", &Shape::count)
      .def("list", [](const Shape &self) { return self.sides; })
      .def("Shape", [](Shape &self) -> Shape & { return self; })
      .def_static(
          "make", [](Size) { return Shape(); }, "Size"_a = Size::large)
      .def(
          "__eq__", [](const Shape &a, const Shape &b) { return a.label == b.label; }, nb::is_operator())
      .def("__len__", &Shape::count);
  shape.attr("limit") = 8;

  nb::class_<Square, Shape>(m, "Square")
      .def(nb::init<double>(), "side"_a)
      .def(nb::init<double, Color>(), "side"_a, "color"_a = Color::green)
      .def(
          "count", [](const Square &, int n) { return n; }, "n"_a)
      .def_prop_rw(
          "area", [](const Square &self) { return self.side * self.side; },
          [](Square &self, double value) { self.side = value; });

  m.def("scale", [](int n, const std::string &) { return n; }, "Scales\\a number.", "n"_a = 2, "text"_a = "a'b");
  m.def("scale", [](double x) { return x; }, "x"_a);
  m.def("first", [](const std::map<std::string, std::vector<int>> &map) { return map.begin()->second; });
  m.def("tuple", [](std::tuple<int, Color> pair) { return pair; });
  m.def("nothing", [] { return std::tuple<>(); });
  m.def(
      "apply",
      [](const std::function<int(std::vector<int>)> &f, Shape *shape, Shape &strict) {
        return shape == &strict ? f({1}) : 0;
      },
      "f"_a = nullptr, "shape"_a.none(false), "strict"_a);
  m.def("find", [](std::optional<Color> color) { return color; }, "color"_a = Color::red);
  m.def("unbound", [](const Unbound &) {});
  m.def("unbound_pair", [](const std::vector<std::map<int, UnboundPair<int, int>>> &) {});
  m.def("weak", [](nb::weakref reference) { return reference; });
  m.def("class", [] {});
  m.attr("answer") = 42;
  m.attr("numbers") = std::vector<int>{1, 2};
  m.attr("table") = std::map<std::string, double>{{"a", 1}};
  m.attr("pair") = std::tuple<int, std::string>(1, "x");
  m.attr("best") = Color::red;

  nb::module_ inner = m.def_submodule("inner", "A module inside.");
  inner.def("color_of", [](const Square &square) { return square.color; }, "square"_a);
  inner.def_submodule("deep")
      .def(
          "twice", [](int x) { return 2 * x; }, "x"_a)
      .def("same", [](Square &square) -> Square & { return square; }, "square"_a);
}
