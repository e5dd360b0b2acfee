/* A library for the printers of gdb: functions with a local variable of each kind of value, which call stop_here. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;
namespace nb = ffi_hpy;

namespace {

class PointObj : public ffi::Object {
public:
  int64_t x = 3;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("printed.Point", PointObj, ffi::Object);
};
class Point : public ffi::ObjectRef {
public:
  Point() : ObjectRef(ffi::make_object<PointObj>()) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Point, ffi::ObjectRef, PointObj);
};

TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::ObjectDef<PointObj>(); }

} // namespace

extern "C" __attribute__((noinline)) void stop_here() { asm volatile(""); }

__attribute__((noinline)) static int64_t Show(const ffi::AnyView &tensor) {
  ffi::Any none, number = 42, truth = true, ratio = 2.5, dtype = DLDataType{kDLFloat, 32, 4};
  ffi::Any device = DLDevice{kDLCUDA, 1};
  ffi::String small = "it's", large = "a text of more than 7 bytes";
  ffi::Bytes bytes("\0\1", 2);
  ffi::Array<ffi::Any> array = {1, small, ffi::Array<int>{2}, nullptr};
  ffi::Array<int> many;
  for (int i = 0; i < 1000; ++i) many.push_back(i);
  ffi::Map<ffi::String, int> pairs = {{"b", 1}, {"a", 2}};
  ffi::Map<int, int> dense;
  for (int i = 0; i < 40; ++i) dense.Set(i, i * i);
  ffi::Shape shape = {2, 3};
  ffi::Error error("ValueError", "too small", "");
  ffi::Function function = ffi::Function::FromTyped([] {});
  const PointObj *null = nullptr;
  Point point;
  const Point &reference = point;
  const PointObj *pointer = point.get();
  const ffi::Array<int> *address = &many;
  TVMFFIAny cell = tensor.CopyToTVMFFIAny();
  ffi_hpy::object owned(ffi_hpy::handle(ffi_hpy::detail::none_value()), ffi_hpy::detail::steal_t{});
  ffi::Variant<int64_t, ffi::String> variant = ffi::String("either");
  ffi::Any wild;
  TVMFFIAny broken{};
  broken.type_index = kTVMFFIArray;
  broken.v_int64 = 16;
  stop_here();
  return (null != nullptr) + broken.type_index + point->x + reference->x + pointer->x +
         static_cast<int64_t>(address->size()) + cell.type_index +
         static_cast<int64_t>(dense.size() + pairs.size() + array.size() + bytes.size() + shape.size());
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(show, Show);

FFI_HPY_MODULE(printed, m) {
  m.def("show_bound", [](nb::object given) {
    nb::object list = nb::cast(std::vector<int>{1, 2}), set = nb::cast(std::set<int>{3});
    nb::object tuple = nb::cast(std::make_tuple(4, std::string("a text of many letters")));
    nb::object dict = nb::cast(std::map<int, std::vector<int>>{{5, {6}}, {7, {}}});
    nb::object empty;
    stop_here();
    return list.is(set) || tuple.is(dict) || given.is(empty);
  });
}
