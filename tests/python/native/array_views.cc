// Parameters of declared arrays, and a kernel that reads data_ptr() without byte_offset.
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#include <tvm/ffi/extra/array_view.h>
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

double Total(ffi::ArrayView<const double, 1, kDLCPU> x) {
  double sum = 0;
  for (int64_t i = 0; i < x.size(0); ++i) sum += x(i);
  return sum;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(total, Total);

int64_t Count(const ffi::ConstTensorView &x, const ffi::ConstTensorView &y) { return x.numel() + y.numel(); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count, Count);

int64_t CountOptional(const std::optional<ffi::ConstTensorView> &x, ffi::Optional<ffi::ArrayView<const double>> y) {
  return (x.has_value() ? x->numel() : -1) + (y.has_value() ? y.value().numel() : -1);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count_optional, CountOptional);

int64_t CountAll(const std::vector<ffi::ConstTensorView> &all) {
  int64_t n = 0;
  for (const ffi::ConstTensorView &x : all) n += x.numel();
  return n;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count_all, CountAll);

int64_t CountEither(std::variant<ffi::ConstTensorView, int64_t> x) {
  return x.index() == 0 ? std::get<0>(x).numel() : std::get<1>(x);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count_either, CountEither);

int64_t Write(ffi::Optional<ffi::TensorView> x) { return x.has_value(); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(write, Write);

void Fill(ffi::ArrayView<float, 2> x, double value) {
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) x(i, j) = static_cast<float>(value);
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fill, Fill);

void OnGpu(ffi::ArrayView<void, ffi::kAny, kDLCUDA>) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(on_gpu, OnGpu);

int64_t Address(const ffi::TensorView &x) { return reinterpret_cast<int64_t>(x.data_ptr()); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address, Address);

int64_t Offset(const ffi::TensorView &x) { return static_cast<int64_t>(x.byte_offset()); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(offset, Offset);

ffi::Function Unknown() { return ffi::Function::FromTyped(Count); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(unknown, Unknown);

class ReaderObj : public ffi::Object {
public:
  explicit ReaderObj(const ffi::ConstTensorView &x) : n(x.numel()) {}
  int64_t More(const ffi::ConstTensorView &x) const { return n + x.numel(); }
  int64_t n;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("array_views.Reader", ReaderObj, ffi::Object);
};
TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::ObjectDef<ReaderObj>()
      .def(refl::init<ffi::ConstTensorView>())
      .def_ro("n", &ReaderObj::n)
      .def("more", &ReaderObj::More);
  refl::GlobalDef().def("array_views.size", [](ffi::ArrayView<const void, 1> x) { return x.size(0); });
}
