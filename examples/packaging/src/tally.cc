/* tally.cc - running sums: functions, a class, errors, and a kernel for tensors. */
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/reflection/registry.h>

#include <cstdint>

namespace tally {

namespace ffi = tvm::ffi;

/* A class: Python accesses its C++ fields in place. */
class TallyObj : public ffi::Object {
public:
  int64_t count = 0;
  double total = 0;

  void Add(double value) {
    count += 1;
    total += value;
  }

  double Mean() const {
    if (count == 0) TVM_FFI_THROW(ValueError) << "the mean of nothing is not defined";
    return total / static_cast<double>(count);
  }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("tally.Tally", TallyObj, ffi::Object);
};

/* A reference to a TallyObj: the type of parameters and results. */
class Tally : public ffi::ObjectRef {
public:
  Tally() : ffi::ObjectRef(ffi::make_object<TallyObj>()) {}

  static Tally Of(const ffi::Array<double> &values) {
    Tally made;
    for (double value : values) made->Add(value);
    return made;
  }

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Tally, ffi::ObjectRef, TallyObj);
};

static Tally Merge(const Tally &left, const Tally &right) {
  Tally made;
  made->count = left->count + right->count;
  made->total = left->total + right->total;
  return made;
}

/* Accepts tensors of any library, also NumPy's and PyTorch's, without a copy. */
static void Scale(ffi::TensorView values, double factor) {
  DLDataType dtype = values.dtype();
  if (dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1) {
    TVM_FFI_THROW(TypeError) << "values must be float32, got " << ffi::DLDataTypeToString(dtype);
  }
  if (values.device().device_type != kDLCPU || !values.IsContiguous()) {
    TVM_FFI_THROW(ValueError) << "values must be contiguous, and in the memory of the CPU";
  }
  float *data = static_cast<float *>(values.data_ptr());
  for (int64_t i = 0; i < values.numel(); i++) data[i] *= static_cast<float>(factor);
}

/* Runs when the library is loaded. C++ does not expose parameter names: refl::arg gives them, for keyword calls, for
 * help() and for the stubs. */
TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("tally.merge", Merge, "The tally of all that two others have seen.")
      .def("tally.scale", Scale, "Multiply a float32 tensor by a number, in place.", refl::arg("values"),
           refl::arg("factor") = 2.0);
  refl::ObjectDef<TallyObj>("How many values there were, and their sum.")
      .def(refl::init<>())
      .def_ro("count", &TallyObj::count, "how many values there were")
      .def_ro("total", &TallyObj::total, "their sum")
      .def("add", &TallyObj::Add, "Count one more value.", refl::arg("value"))
      .def("mean", &TallyObj::Mean, "The mean; ValueError if there were no values.")
      .def_static("of", &Tally::Of, "The tally of some values.", refl::arg("values"));
}

} // namespace tally
