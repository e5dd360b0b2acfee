/* Operators of bound classes, and methods that get bound objects together with values of other kinds. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = ffi_hpy;

namespace {

struct Point {
  double x, y;
  Point(double x, double y) : x(x), y(y) {}
  Point operator+(const Point &other) const { return {x + other.x, y + other.y}; }
  Point &operator+=(const Point &other) { return x += other.x, y += other.y, *this; }
  bool operator==(const Point &other) const { return x == other.x && y == other.y; }
};

struct Box {
  int number;
};

/* A class with constructors that take objects together with values of other kinds. */
struct Label {
  Label(const Point &point, std::string text, std::vector<int> numbers)
      : x(point.x), text(std::move(text)), numbers(std::move(numbers)) {
    if (this->text.empty()) throw std::invalid_argument("a label needs a text");
  }
  Label(const Label &other, const Point &point) : Label(point, other.text, other.numbers) {}
  double x;
  std::string text;
  std::vector<int> numbers;
};

struct Keeper {
  nb::object kept;
  Keeper(nb::object kept, const Point &) : kept(std::move(kept)) {}
};

enum class Color { red = 1, blue = 4 };

}  // namespace

FFI_HPY_MODULE(bound_operators, m) {
  nb::enum_<Color>(m, "Color").value("red", Color::red).value("blue", Color::blue);
  nb::class_<Point>(m, "Point")
      .def(nb::init<double, double>(), nb::arg("x"), nb::arg("y"))
      .def_rw("x", &Point::x)
      .def(nb::self + nb::self)
      .def(nb::self += nb::self)
      .def(nb::self == nb::self)
      .def("dot", [](const Point &a, const Point &b) { return a.x * b.x + a.y * b.y; })
      .def(
          "first", [](Point &a, Point &) -> Point & { return a; }, nb::rv_policy::reference)
      .def(
          "second", [](Point &, Point &b) -> Point & { return b; }, nb::rv_policy::reference)
      .def("fail",
           [](const Point &, const Point &, const std::string &text) -> int { throw std::invalid_argument(text); })
      .def("mix",
           [](const Point &a, const std::string &text, const std::vector<int> &numbers, Color color, const Point &b,
              const std::function<double(const Point &)> &call) {
             return text + std::to_string(numbers.size()) + std::to_string(static_cast<int>(color)) +
                    std::to_string(static_cast<int>(call(a) + call(b)));
           })
      .def("many", [](const Point &a, const Point &b, const Point &c, const Point &d, const Point &e, const Point &f,
                      const Point &g, const Point &h,
                      const Point &i) { return a.x + b.x + c.x + d.x + e.x + f.x + g.x + h.x + i.x; });
  nb::class_<Label>(m, "Label")
      .def(nb::init<const Point &, std::string, std::vector<int>>())
      .def(nb::init<const Label &, const Point &>())
      .def_ro("x", &Label::x)
      .def_ro("text", &Label::text)
      .def_ro("numbers", &Label::numbers);
  nb::class_<Keeper>(m, "Keeper").def(nb::init<nb::object, const Point &>()).def_ro("kept", &Keeper::kept);
  nb::class_<Box>(m, "Box")
      .def(nb::init<int>())
      .def_rw("number", &Box::number)
      .def(
          "__eq__", [](const Box &a, const Box &b) { return a.number == b.number; }, nb::is_operator())
      .def(
          "__eq__", [](const Box &a, int b) { return a.number == b; }, nb::is_operator())
      .def("__lt__", [](const Box &a, nb::object b) { return nb::isinstance<nb::str>(b) || a.number < 0; })
      .def("__iadd__", [](Box &a, int b) { a.number += b; })
      .def("__mul__", [](const Box &, int) -> int { throw std::domain_error("not today"); })
      .def(
          "__pow__", [](const Box &a, int b, nb::object modulus) { return modulus.is_none() ? a.number + b : -1; },
          nb::arg("b"), nb::arg("modulus").none() = nb::none())
      .def("__contains__", [](const Box &a, int b) { return a.number == b; })
      .def("__floordiv__", [](const Box &, nb::object, nb::object) { return 0; })
      .def("__sub__", [](const Box &a, const Box &b, const std::string &) { return a.number - b.number; });
}
