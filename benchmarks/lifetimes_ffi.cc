/* The classes of lifetimes.py for ffi_hpy and for tvm_ffi. Compiled with the headers of each. */
#include <tvm/ffi/tvm_ffi.h>

#include <atomic>

namespace ffi = tvm::ffi;
namespace refl = ffi::reflection;

static std::atomic<int64_t> n_alive{0};

/* Counts the objects that exist. */
struct Counted {
  Counted() { ++n_alive; }
  ~Counted() { --n_alive; }
};

class ButtonObj : public ffi::Object {
public:
  ffi::Optional<ffi::Function> on_click;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Button", ButtonObj, ffi::Object);
};

class WindowObj : public ffi::Object {
public:
  Counted counted;
  ffi::Optional<ffi::ObjectRef> button;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Window", WindowObj, ffi::Object);
};

class SubjectObj : public ffi::Object {
public:
  Counted counted;
  ffi::Array<ffi::Function> observers;
  ffi::Map<ffi::String, ffi::Function> named;
  void Add(ffi::Function observer) { observers.push_back(std::move(observer)); }
  void Name(ffi::String name, ffi::Function observer) { named.Set(std::move(name), std::move(observer)); }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Subject", SubjectObj, ffi::Object);
};

class GateObj : public ffi::Object {
public:
  Counted counted;
  ffi::TypedFunction<int64_t(int64_t)> check;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Gate", GateObj, ffi::Object);
};

class NodeObj : public ffi::Object {
public:
  Counted counted;
  ffi::Optional<ffi::ObjectRef> next;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Node", NodeObj, ffi::Object);
};

class ShapeObj : public ffi::Object {
public:
  Counted counted;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Shape", ShapeObj, ffi::Object);
};

class CanvasObj : public ffi::Object {
public:
  ffi::Array<ffi::ObjectRef> shapes;
  void Add(ffi::ObjectRef shape) { shapes.push_back(std::move(shape)); }
  ffi::ObjectRef Last() const { return shapes.back(); }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("lifetimes.Canvas", CanvasObj, ffi::Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<ButtonObj>().def(refl::init<>()).def_rw("on_click", &ButtonObj::on_click);
  refl::ObjectDef<WindowObj>().def(refl::init<>()).def_rw("button", &WindowObj::button);
  refl::ObjectDef<SubjectObj>()
      .def(refl::init<>())
      .def_ro("observers", &SubjectObj::observers)
      .def_ro("named", &SubjectObj::named)
      .def("add", &SubjectObj::Add)
      .def("name", &SubjectObj::Name);
  refl::ObjectDef<GateObj>().def(refl::init<>()).def_rw("check", &GateObj::check);
  refl::ObjectDef<NodeObj>().def(refl::init<>()).def_rw("next", &NodeObj::next);
  refl::ObjectDef<ShapeObj>().def(refl::init<>());
  refl::ObjectDef<CanvasObj>()
      .def(refl::init<>())
      .def_ro("shapes", &CanvasObj::shapes)
      .def("add", &CanvasObj::Add)
      .def("last", &CanvasObj::Last);
  refl::GlobalDef().def("lifetimes.alive", [] { return n_alive.load(); });
}
