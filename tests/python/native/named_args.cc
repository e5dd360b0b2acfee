// Functions, methods and constructors with named parameters, and one with unnamed parameters.
#include <tvm/ffi/tvm_ffi.h>

namespace {

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

class CounterObj : public Object {
public:
  int64_t count, step;
  CounterObj(int64_t count, int64_t step) : count(count), step(step) {}
  int64_t Add(int64_t by, int64_t times) { return count += by * times * step; }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("named_args.Counter", CounterObj, Object);
};

class TallyObj : public Object {
public:
  int64_t count, step;
  TallyObj(int64_t count, int64_t step) : count(count), step(step) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("named_args.Tally", TallyObj, Object);
};

String Show(const Array<int64_t> &values, int64_t window, double scale, Optional<String> unit, bool is_short) {
  std::string text = std::to_string(values.size()) + " " + std::to_string(window) + " " + std::to_string(scale);
  return text + " " + std::string(unit.value_or("none")) + (is_short ? " short" : " long");
}
int64_t Subtract(int64_t a, int64_t b) { return a - b; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(plain, Subtract);
TVM_FFI_DLL_EXPORT_NAMED_FUNC(subtract, Subtract, refl::arg("a"), refl::arg("b") = 2);

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::GlobalDef()
      .def("named_args.show", Show, "Shows the arguments.\n\nAt length.", refl::arg("values"), refl::arg("window") = 3,
           refl::arg("scale") = 0.5, refl::arg("unit") = nullptr, refl::arg("is_short") = true)
      .def("named_args.plain", Subtract, "Has no names.")
      .def_packed(
          "named_args.packed", [](PackedArgs args, Any *result) { *result = args.size(); }, refl::arg("first"),
          refl::arg("second") = "x")
      .def(
          "named_args.optional", [](Optional<int64_t> value) { return value; }, refl::arg("value") = std::nullopt)
      .def_method("named_args.add", &CounterObj::Add, refl::arg("by"), refl::arg("times") = 1);
  refl::ObjectDef<CounterObj>("Counts.")
      .def(refl::init<int64_t, int64_t>(), refl::arg("start"), refl::arg("step") = 1)
      .def_rw("count", &CounterObj::count)
      .def("add", &CounterObj::Add, "Counts on.", refl::arg("by"), refl::arg("times") = 1)
      .def_static("make", [](int64_t n) { return make_object<CounterObj>(n, 1); }, "Makes one.", refl::arg("n") = 7);
  refl::ObjectDef<TallyObj>()
      .def(refl::init<int64_t, int64_t>(), refl::arg("start"), refl::arg("step") = 1)
      .def_ro("count", &TallyObj::count)
      .def_ro("step", &TallyObj::step);
}

} // namespace
