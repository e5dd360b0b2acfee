/* Holders of objects in C++: fields, a smart pointer, a weak pointer, threads, and calls of Python functions. */
#include <tvm/ffi/tvm_ffi.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace ffi = tvm::ffi;

namespace {

/* An object that Python code subclasses. */
class ShapeObj : public ffi::Object {
public:
  explicit ShapeObj(int64_t sides) : sides(sides) { ++n_alive; }
  ~ShapeObj() { --n_alive; }
  int64_t sides;
  static std::atomic<int64_t> n_alive;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("preserve.Shape", ShapeObj, ffi::Object);
};
std::atomic<int64_t> ShapeObj::n_alive{0};

class Shape : public ffi::ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Shape, ffi::ObjectRef, ShapeObj);
};

/* An object with a field that holds another object. */
class FrameObj : public ffi::Object {
public:
  ffi::Any content;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("preserve.Frame", FrameObj, ffi::Object);
};

/* A thread that waits. Without the promise, which ends first, it would wait forever. */
struct Waiting {
  std::future<ffi::Any> result;
  std::promise<void> go_on;
};

/* Returns a function that lets a thread go on, which has the only native reference to the object and calls f. */
ffi::Function HoldInThread(ffi::ObjectRef object, ffi::Function f) {
  auto waiting = std::make_shared<Waiting>();
  auto work = [object = std::move(object), f, signal = waiting->go_on.get_future()]() mutable {
    ffi::ObjectRef mine = std::move(object);
    signal.wait();
    return f(mine);
  };
  waiting->result = std::async(std::launch::async, std::move(work));
  return ffi::Function::FromTyped([waiting]() {
    waiting->go_on.set_value();
    return waiting->result.get();
  });
}

ffi::ObjectRef kept;
ffi::WeakObjectPtr<ffi::Object> watched;

} // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = ffi::reflection;
  refl::ObjectDef<ShapeObj>().def(refl::init<int64_t>()).def_rw("sides", &ShapeObj::sides);
  refl::ObjectDef<FrameObj>().def(refl::init<>()).def_rw("content", &FrameObj::content);
  refl::GlobalDef()
      .def("preserve.n_alive", []() { return ShapeObj::n_alive.load(); })
      .def("preserve.keep", [](ffi::ObjectRef object) { kept = std::move(object); })
      .def("preserve.keep_moved", [](ffi::RValueRef<ffi::ObjectRef> object) { kept = *std::move(object); })
      .def("preserve.kept", []() { return kept; })
      .def("preserve.give", []() { return std::move(kept); }) /* the only reference */
      .def("preserve.forget", []() { kept = ffi::ObjectRef(); })
      .def("preserve.forget_in_thread", []() { std::thread([] { kept = ffi::ObjectRef(); }).join(); })
      .def("preserve.watch",
           [](ffi::ObjectRef object) {
             watched = ffi::details::ObjectUnsafe::ObjectPtrFromObjectRef<ffi::Object>(object);
           })
      .def("preserve.watched", []() { return ffi::ObjectRef(watched.lock()); })
      .def("preserve.use_count", [](const ffi::ObjectRef &object) { return object.use_count(); })
      .def("preserve.call_with", [](const ffi::Function &f, const ffi::ObjectRef &object) { return f(object); })
      .def("preserve.call_with_kept", [](const ffi::Function &f) { return f(kept); })
      .def("preserve.call_in_thread",
           [](const ffi::Function &f) {
             ffi::Any result;
             std::thread([&] { result = f(kept); }).join();
             return result;
           })
      .def("preserve.hold_in_thread", HoldInThread)
      .def("preserve.make", [](int64_t sides) { return Shape(ffi::make_object<ShapeObj>(sides)); });
}
