/* A library that is bound with ffi_hpy/bind.h and has one of everything that a stub shows: the module `stubbed`. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/typing.h>

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
struct Part2 {};
int n_made = 0, n_kinds = 0;
struct Unbound {};
template <typename A, typename B> struct UnboundPair {};
struct TooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace

FFI_HPY_MODULE(stubbed, m) {
  nb::enum_<Color>(m, "Color", "A \"color\".")
      .value("red", Color::red)
      .value("green", Color::green, "Like grass.")
      .def(
          "next", [](Color color) { return color; }, "The one behind it.")
      .def(
          "mix", [](Color a, Color) { return a; }, "other"_a = Color::red)
      .def_static("parse", [](const std::string &) { return Color::red; })
      .def_prop_ro("is_warm", [](Color color) { return color == Color::red; }, "Like fire.");
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
  shape.def_rw_static("n_made", &n_made, "How many.").def_ro_static("n_kinds", &n_kinds);
  shape.attr("size") = shape.attr("count");
  shape.attr("of") = nb::module_::import_("builtins")
                         .attr("classmethod")(nb::cpp_function([](nb::handle, int) { return Shape(); }, nb::name("of"),
                                                               nb::is_method(), "n"_a = 3));

  /* Signatures that the author writes. */
  nb::class_<Part2>(m, "Written", nb::sig("@typing.final\nclass Written(typing.Sized)"))
      .def(nb::init<>(), nb::sig("def __init__(self, *, color: typing.Literal['a.b'] = 'a.b') -> None"))
      .def(
          "__len__", [](Part2 &) { return 0; }, nb::sig("def __len__(self, /) -> int"), "None.")
      .def(
          "mark", [](Part2 &, bool) {}, "value"_a.sig("bool(1)") = true)
      .def_prop_rw(
          "color", [](Part2 &) { return Color::red; }, [](Part2 &, Color) {},
          nb::for_getter(nb::sig("def color(self, /) -> Color")),
          nb::for_setter(nb::sig("def color(self, value: int | Color, /) -> None")));
  m.attr("T") = nb::type_var("T", "bound"_a = shape);
  m.attr("LIMIT") = 1000;
  m.def("limit", [](std::optional<int> x) { return x.value_or(0); }, "x"_a.sig("LIMIT") = 1000);
  m.def("part", [](nb::object o) { return o; }, nb::sig("def part(arg: Shape.Part, /) -> Shape.Size"));
  m.def("same", [](nb::object o) { return o; }, nb::sig("def same(arg: T, /) -> T"), "It.");

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
  m.attr("find_color") = m.attr("find");
  m.attr("Numbers") = nb::typing().attr("List")[nb::builtins()["int"]];
  m.attr("__all__") = std::vector<std::string>{"Color", "Shape"};
  m.def("_hidden", [] {});

  nb::module_ inner = m.def_submodule("inner", "A module inside.");
  inner.def("color_of", [](const Square &square) { return square.color; }, "square"_a);
  inner.def_submodule("deep")
      .def(
          "twice", [](int x) { return 2 * x; }, "x"_a)
      .def("same", [](Square &square) -> Square & { return square; }, "square"_a);
}
