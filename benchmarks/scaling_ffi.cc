/* Functions for scaling.py that the testing library lacks, with the signatures of scaling_nanobind.cc: a method with a
 * pointer to its object, and a caller with a reference to the function. Neither changes the reference count of its
 * argument. Compiled with the headers of ffi_hpy and with tvm_ffi's headers. */
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

class PairObj : public ffi::Object {
public:
  int64_t a;
  int64_t b;
  PairObj(int64_t a_value, int64_t b_value) : a(a_value), b(b_value) {}
  int64_t Sum() const { return a + b; }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("scaling.Pair", PairObj, ffi::Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = ffi::reflection;
  refl::ObjectDef<PairObj>()
      .def(refl::init<int64_t, int64_t>())
      .def_rw("a", &PairObj::a)
      .def_rw("b", &PairObj::b)
      .def("sum", &PairObj::Sum);
  refl::GlobalDef().def("scaling.apply", [](const ffi::Function &f) { return f(); });
}
