// Classes with methods that classes of Python override. tests/python/classes/test_overrides.py uses them.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/extra/overrides.h>
#include <tvm/ffi/function.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;

thread_local std::string last_words;  // of an object that was destroyed

class ShapeObj : public ffi::Object, public ffi::Overrides {
public:
  int64_t size;
  double area_at_construction;

  explicit ShapeObj(int64_t size) : size(size), area_at_construction(Area()) {}
  ~ShapeObj() {
    if (size != -1) return;
    try {
      last_words = std::to_string(Area());
    } catch (const ffi::Error &error) {
      last_words = error.what();
    }
  }

  double Area() const { return CallOverride("area", &ShapeObj::DoArea); }
  ffi::String Describe(bool full, const ffi::Array<int64_t> &numbers) const {
    return CallOverride("describe", &ShapeObj::DoDescribe, full, numbers);
  }
  void Grow(int32_t by) { CallOverride("grow", &ShapeObj::DoGrow, by); }
  int32_t Corners() const { return CallOverride("corners", &ShapeObj::DoCorners); }
  double Misspelt() const { return CallOverride("aera", &ShapeObj::DoArea); }
  ffi::Any Anything(ffi::Any value) const { return CallOverride("anything", &ShapeObj::DoAnything, value); }

  virtual double DoArea() const { return 0.5; }
  virtual ffi::String DoDescribe(bool full, const ffi::Array<int64_t> &numbers) const {
    return std::string(full ? "full " : "short ") + std::to_string(numbers.size()) + " of " + std::to_string(Area());
  }
  virtual void DoGrow(int32_t by) { size += by; }
  virtual int32_t DoCorners() const { ffi::ThrowPureVirtual(this, "corners"); }
  ffi::Any DoAnything(ffi::Any value) const { return value; }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("overrides.Shape", ShapeObj, ffi::Object);
};

class Shape : public ffi::ObjectRef {
public:
  explicit Shape(ffi::ObjectPtr<ShapeObj> object) : ObjectRef(std::move(object)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Shape, ffi::ObjectRef, ShapeObj);
};

class SquareObj : public ShapeObj {
public:
  explicit SquareObj(int64_t size) : ShapeObj(size) {}
  double DoArea() const override { return static_cast<double>(size * size); }
  int32_t DoCorners() const override { return 4; }
  bool IsRound() const { return CallOverride("is_round", &SquareObj::DoIsRound); }
  virtual bool DoIsRound() const { return false; }
  TVM_FFI_DECLARE_OBJECT_INFO("overrides.Square", SquareObj, ShapeObj);
};

// Not registered by an ObjectDef: the members are those of Square.
class TileObj : public SquareObj {
public:
  explicit TileObj(int64_t size) : SquareObj(size) {}
  double DoArea() const override { return -1; }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("overrides.Tile", TileObj, SquareObj);
};

Shape *last = nullptr;  // an object that C++ uses when the process exits

void PrintArea(const Shape &shape) {
  try {
    std::printf("%g\n", shape->Area());
  } catch (const ffi::Error &error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.message().c_str());
  }
}

double Total(const ffi::Array<Shape> &shapes) {
  double sum = 0;
  for (const Shape &shape : shapes) sum += shape->Area();
  return sum;
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<ShapeObj>()
      .def(refl::init<int64_t>())
      .def_rw("size", &ShapeObj::size)
      .def_ro("area_at_construction", &ShapeObj::area_at_construction)
      .def("area", &ShapeObj::DoArea, refl::overridable())
      .def("describe", &ShapeObj::DoDescribe, refl::overridable())
      .def("grow", &ShapeObj::DoGrow, refl::overridable())
      .def("corners", &ShapeObj::DoCorners, refl::overridable())
      .def("anything", &ShapeObj::DoAnything, refl::overridable());
  refl::ObjectDef<SquareObj>().def(refl::init<int64_t>()).def("is_round", &SquareObj::DoIsRound, refl::overridable());
  refl::GlobalDef()
      .def("overrides.area", [](const Shape &shape) { return shape->Area(); })
      .def("overrides.describe", [](const Shape &shape, bool full,
                                    const ffi::Array<int64_t> &numbers) { return shape->Describe(full, numbers); })
      .def("overrides.grow", [](const Shape &shape, int32_t by) { shape->Grow(by); })
      .def("overrides.corners", [](const Shape &shape) { return shape->Corners(); })
      .def("overrides.misspelt", [](const Shape &shape) { return shape->Misspelt(); })
      .def("overrides.anything", [](const Shape &shape, ffi::Any value) { return shape->Anything(value); })
      .def("overrides.is_round", [](const ffi::ObjectRef &shape) { return shape.as<SquareObj>()->IsRound(); })
      .def("overrides.total", Total)
      .def("overrides.make_square", [](int64_t size) { return Shape(ffi::make_object<SquareObj>(size)); })
      .def("overrides.make_tile", [](int64_t size) { return Shape(ffi::make_object<TileObj>(size)); })
      .def("overrides.copy", [](const Shape &shape) { return Shape(ffi::make_object<ShapeObj>(*shape.get())); })
      .def("overrides.at_exit",
           [](const Shape &shape) {
             last = new Shape(shape);
             std::atexit([] { PrintArea(*last); });
           })
      .def("overrides.at_exit_on_thread",
           [](const Shape &shape) {
             last = new Shape(shape);
             std::atexit([] { std::thread([] { PrintArea(*last); }).join(); });
           })
      .def("overrides.last_words", [] { return last_words; })
      .def("overrides.area_on_thread", [](const Shape &shape) {
        ffi::Any result;
        std::thread([&] {
          try {
            result = shape->Area();
          } catch (const ffi::Error &error) {
            result = ffi::String(std::string(error.kind()) + ": " + std::string(error.message()));
          }
        }).join();
        return result;
      });
}

}  // namespace
