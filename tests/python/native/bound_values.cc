/* A library that is bound with ffi_hpy/bind.h: the module `bound_values`. Enums with numbers and methods of any kind,
 * copies of objects of derived classes, empty smart pointers, and properties that cannot be read. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/intrusive/counter.h>
#include <ffi_hpy/intrusive/ref.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

enum class Letter : char { a = 'a', b = 'b' };
enum class Switch : bool { off = false, on = true };
enum class Mask : uint64_t { one = 1, all = UINT64_MAX };
enum class Bits : uint64_t { one = 1, all = UINT64_MAX };
enum class Command { start, stop };
enum class Alias { first = 1, other = 1 };
enum class Unbound { x };

struct Shape {
  int sides = 0;
  Shape() = default;
  Shape(const Shape &) = default;
  virtual ~Shape() = default;
};
struct Square : Shape {
  double length = 2;
  Square() { sides = 4; }
};
struct Unique : Shape {
  Unique() = default;
  Unique(const Unique &) = delete;
};
Shape plain;
Square square;
Unique unique;
Shape &shape(int which) { return which == 0 ? plain : which == 1 ? static_cast<Shape &>(square) : unique; }

struct Counted : nb::intrusive_base {};

struct Source {
  virtual ~Source() = default;
  virtual std::shared_ptr<Shape> shared() { return std::make_shared<Shape>(); }
  virtual std::unique_ptr<Shape> owned() { return std::make_unique<Shape>(); }
  virtual nb::ref<Counted> counted() { return new Counted(); }
  virtual const Shape &same(const Shape &given) { return given; }
};
struct PySource : Source {
  FFI_HPY_TRAMPOLINE(Source);
  std::shared_ptr<Shape> shared() override { FFI_HPY_OVERRIDE(shared); }
  std::unique_ptr<Shape> owned() override { FFI_HPY_OVERRIDE(owned); }
  nb::ref<Counted> counted() override { FFI_HPY_OVERRIDE(counted); }
  const Shape &same(const Shape &given) override { FFI_HPY_OVERRIDE(same, given); }
};

struct Safe {
  int secret = 1;
};

} // namespace

FFI_HPY_MAKE_OPAQUE(std::vector<std::shared_ptr<Shape>>)

FFI_HPY_MODULE(bound_values, m) {
  nb::enum_<Letter>(m, "Letter").value("a", Letter::a).value("b", Letter::b);
  nb::enum_<Switch>(m, "Switch").value("off", Switch::off).value("on", Switch::on);
  nb::enum_<Mask>(m, "Mask").value("one", Mask::one).value("all", Mask::all);
  nb::enum_<Bits>(m, "Bits", nb::is_arithmetic()).value("one", Bits::one).value("all", Bits::all);
  nb::enum_<Command>(m, "Command")
      .value("start", Command::start)
      .value("stop", Command::stop)
      .def("__call__", [](Command self, int by) { return static_cast<int>(self) + by; })
      .def("text", [](Command self) { return self == Command::start ? "go" : "halt"; });
  nb::enum_<Alias>(m, "Alias").value("first", Alias::first, "The first.").value("other", Alias::other, "The other.");
  m.def("letter", [](Letter value) { return value; });
  m.def("switch", [](Switch value) { return value; });
  m.def("mask", [](Mask value) { return value; });
  m.def("bits", [](Bits value) { return value; });
  m.def("all_bits", [](std::vector<Bits> values) { return values; });
  m.def("exact_bits", [](Bits value) { return value; }, nb::arg().noconvert());
  m.def("command", [](Command value) { return value; });
  m.def("commands", [](std::vector<Command> values) { return values; });
  m.def("enum_classes",
        [] { return nb::make_tuple(nb::type<Letter>(), nb::type<Bits>(), nb::type<Unbound>().is_valid()); });

  nb::class_<Shape>(m, "Shape").def(nb::init<>()).def_rw("sides", &Shape::sides);
  nb::class_<Square, Shape>(m, "Square").def(nb::init<>()).def_rw("length", &Square::length);
  nb::class_<Unique, Shape>(m, "Unique");
  m.def("copy", &shape);
  m.def("copy_const", [](int which) -> const Shape & { return shape(which); });
  m.def("copy_pointer", [](int which) { return &shape(which); }, nb::rv_policy::copy);
  m.def("copy_by_cast", [](int which) { return nb::cast(shape(which)); });
  m.def("refer", &shape, nb::rv_policy::reference);
  m.def("value", [] { return Shape(square); });

  nb::class_<Counted>(
      m, "Counted", nb::intrusive_ptr<Counted>([](Counted *self, auto *object) noexcept { self->set_self_py(object); }))
      .def(nb::init<>());
  nb::class_<Source, PySource>(m, "Source").def(nb::init<>());
  m.def("has_shared", [](Source &source) { return source.shared() != nullptr; });
  m.def("has_owned", [](Source &source) { return source.owned() != nullptr; });
  m.def("has_counted", [](Source &source) { return source.counted().get() != nullptr; });
  m.def("is_same", [](Source &source) { return &source.same(square) == &square; });
  m.def("call_shared", [](const std::function<std::shared_ptr<Shape>()> &f) { return f() != nullptr; });
  m.def("call_owned", [](const std::function<std::unique_ptr<Shape>()> &f) { return f() != nullptr; });
  m.def("in_tuple", [](const std::tuple<std::shared_ptr<Shape>, int> &pair) { return std::get<0>(pair) != nullptr; });
  m.def("in_array", [](const std::array<std::shared_ptr<Shape>, 2> &two) { return two[1] != nullptr; });
  m.def("n_null", [](nb::list shapes) {
    int n = 0;
    for (nb::handle each : shapes) n += nb::cast<std::shared_ptr<Shape>>(each) == nullptr;
    return n;
  });
  m.def("refuses_null", [](const std::shared_ptr<Shape> &) {});
  nb::bind_vector<std::vector<std::shared_ptr<Shape>>>(m, "Shapes");

  nb::class_<Safe>(m, "Safe")
      .def(nb::init<>())
      .def_prop_rw("secret", nullptr, [](Safe &self, int value) { self.secret = value; })
      .def_prop_rw_static("all", nullptr, [](nb::handle cls, int value) { nb::setattr(cls, "shown", nb::int_(value)); })
      .def("reveal", [](const Safe &self) { return self.secret; });
}
