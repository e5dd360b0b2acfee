/* The functions of instructions.py with named parameters, a class whose constructor names them, and functions that
 * check the range of an integer. */
#include <tvm/ffi/tvm_ffi.h>

namespace {

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

class PairObj : public Object {
public:
  int64_t a, b;
  PairObj(int64_t a, int64_t b) : a(a), b(b) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("bench.NamedPair", PairObj, Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<PairObj>().def(refl::init<int64_t, int64_t>(), refl::arg("a"), refl::arg("b") = 2);
  refl::GlobalDef().def("bench.take_named", [](int64_t, int64_t) {}, refl::arg("a"), refl::arg("b") = 2);
  refl::GlobalDef()
      .def("bench.take_int8", [](int8_t) {})
      .def("bench.take_int32", [](int32_t) {})
      .def("bench.take_int64", [](int64_t) {});
}

} // namespace
