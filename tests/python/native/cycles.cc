// Objects that hold callables, containers and other objects, for tests of garbage collection.
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/tvm_ffi.h>

#include <atomic>

namespace cycles {
// A field without references, which refuses every value and counts them.
struct Dial {
  int64_t place = 0;
};
std::atomic<int64_t> n_refused{0};
std::atomic<bool> traverse_throws{false};
} // namespace cycles

template <> inline constexpr bool tvm::ffi::use_default_type_traits_v<cycles::Dial> = false;
template <> struct tvm::ffi::TypeTraits<cycles::Dial> : public tvm::ffi::TypeTraitsBase {
  static void CopyToAnyView(const cycles::Dial &, TVMFFIAny *result) {
    TypeTraits<std::nullptr_t>::CopyToAnyView(nullptr, result);
  }
  static void MoveToAny(cycles::Dial value, TVMFFIAny *result) { CopyToAnyView(value, result); }
  static bool CheckAnyStrict(const TVMFFIAny *) { return false; }
  static std::optional<cycles::Dial> TryCastFromAnyView(const TVMFFIAny *) {
    ++cycles::n_refused;
    return std::nullopt;
  }
  static std::string TypeStr() { return "Any"; }
  static std::string TypeSchema() { return R"({"type":"Any"})"; }
};

namespace {

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

std::atomic<int64_t> n_alive{0};

// Counts itself, so that a test sees when C++ objects end.
class CountedObj : public Object {
public:
  CountedObj() { ++n_alive; }
  ~CountedObj() { --n_alive; }
  TVM_FFI_DECLARE_OBJECT_INFO("cycles.Counted", CountedObj, Object);
};

class ButtonObj : public CountedObj {
public:
  Optional<Function> on_press;
  int64_t Press() { return on_press.has_value() ? on_press.value()().cast<int64_t>() : -1; }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cycles.Button", ButtonObj, CountedObj);
};
class Button : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Button, ObjectRef, ButtonObj);
};

class WindowObj : public CountedObj {
public:
  Button button{make_object<ButtonObj>()};
  TypedFunction<int64_t()> on_close;
  ObjectRef parent;
  Any extra;
  std::vector<ObjectRef> children;
  std::vector<std::vector<Any>> rows;
  std::map<String, Any> names;
  std::pair<int64_t, Any> tagged{0, Any()};
  std::pair<int32_t, int32_t> extent{3, 5}; // as large as a pointer, and so are the next ones
  std::array<int64_t, 1> ids{{7}};
  std::tuple<double> scale{0.5};
  cycles::Dial dial;
  std::function<int64_t()> callback;
  std::map<std::string, std::vector<std::function<int64_t()>>> callbacks;
  std::shared_ptr<WindowObj> shared;
  std::vector<std::shared_ptr<WindowObj>> row;
  Function hidden; // not reflected
  void Hide(Function function) { hidden = std::move(function); }
  int64_t CallHidden() { return hidden().cast<int64_t>(); }
  int64_t Close() { return on_close(); }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cycles.Window", WindowObj, CountedObj);
};
class Window : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Window, ObjectRef, WindowObj);
};

// Tells the collector of members without reflection.
class CabinetObj : public CountedObj {
public:
  std::vector<Function> hidden;
  std::vector<ObjectRef> others;
  Any extra;
  ObjectPtr<ButtonObj> button;
  void Hide(Function function) {
    hidden.push_back(function);
    extra = Any(function);
  }
  void VisitReferences(const refl::ReferenceVisitor &visit) const {
    for (const Function &function : hidden) visit(function);
    if (cycles::traverse_throws) TVM_FFI_THROW(RuntimeError) << "no further reference";
    visit(extra);
    visit(extra); // a second time
    visit(button);
    for (const ObjectRef &other : others) visit(other);
  }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cycles.Cabinet", CabinetObj, CountedObj);
};

class NodeObj : public CountedObj {
public:
  ObjectRef next;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cycles.Node", NodeObj, CountedObj);
};

Any kept;
std::shared_ptr<WindowObj> kept_shared;

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<CountedObj>();
  refl::ObjectDef<ButtonObj>()
      .def(refl::init<>())
      .def_rw("on_press", &ButtonObj::on_press)
      .def("press", &ButtonObj::Press);
  refl::ObjectDef<WindowObj>()
      .def(refl::init<>())
      .def_rw("button", &WindowObj::button)
      .def_rw("on_close", &WindowObj::on_close)
      .def_rw("parent", &WindowObj::parent)
      .def_rw("extra", &WindowObj::extra)
      .def_rw("same_extra", &WindowObj::extra)
      .def_rw("children", &WindowObj::children)
      .def_rw("rows", &WindowObj::rows)
      .def_rw("names", &WindowObj::names)
      .def_rw("tagged", &WindowObj::tagged)
      .def_rw("extent", &WindowObj::extent)
      .def_rw("ids", &WindowObj::ids)
      .def_rw("scale", &WindowObj::scale)
      .def_rw("dial", &WindowObj::dial)
      .def_rw("callback", &WindowObj::callback)
      .def_rw("callbacks", &WindowObj::callbacks)
      .def_rw("shared", &WindowObj::shared)
      .def_rw("row", &WindowObj::row)
      .def("hide", &WindowObj::Hide)
      .def("call_hidden", &WindowObj::CallHidden)
      .def("close", &WindowObj::Close);
  refl::ObjectDef<CabinetObj>()
      .def(refl::init<>())
      .def("hide", &CabinetObj::Hide)
      .def("put", [](CabinetObj *self, Any extra, ObjectRef other) { self->extra = extra, self->others = {other}; })
      .def("call", [](const CabinetObj *self) { return self->hidden[0](); })
      .def_traverse<&CabinetObj::VisitReferences>();
  refl::ObjectDef<NodeObj>().def(refl::init<>()).def_rw("next", &NodeObj::next);
  refl::GlobalDef()
      .def("cycles.n_alive", []() { return n_alive.load(); })
      .def("cycles.n_refused", []() { return cycles::n_refused.load(); })
      .def("cycles.set_traverse_throws", [](bool throws) { cycles::traverse_throws = throws; })
      .def("cycles.error_of",
           [](const Function &function) {
             try {
               function();
             } catch (const Error &error) {
               return Any(error);
             }
             return Any();
           })
      .def("cycles.keep", [](Any value) { kept = std::move(value); })
      .def("cycles.kept", []() { return kept; })
      .def("cycles.keep_shared",
           [](WindowObj *window) {
             kept_shared = window->shared;
             window->row.push_back(window->shared);
           })
      .def("cycles.forget_shared", []() { kept_shared = nullptr; })
      .def("cycles.make_shared", []() { return std::make_shared<WindowObj>(); })
      .def("cycles.make_kept", []() { return kept_shared = std::make_shared<WindowObj>(); })
      .def("cycles.kept_shared", []() { return kept_shared; })
      .def("cycles.call", [](Function function) { return function(); })
      .def("cycles.ring", [](int64_t n) {
        // a ring of nodes, of which the first is returned
        ObjectPtr<NodeObj> first = make_object<NodeObj>(), last = first;
        for (int64_t i = 1; i < n; ++i) {
          ObjectPtr<NodeObj> node = make_object<NodeObj>();
          last->next = ObjectRef(node);
          last = node;
        }
        last->next = ObjectRef(first);
        return ObjectRef(first);
      });
}

} // namespace
