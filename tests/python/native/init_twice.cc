/* A library that, depending on KIND, registers something while it is loaded, or fails. */
#include <tvm/ffi/reflection/registry.h>

#include <stdexcept>

namespace {

using namespace tvm::ffi;

class ThingObj : public Object {
public:
  int64_t size = 0;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test_module.Thing", ThingObj, Object);
};

/* Ignores the errors of a library that this library loads. */
TVM_FFI_STATIC_INIT_BLOCK() {
  std::optional<Function> path = Function::GetGlobal("test_module.inner_path");
  if (KIND == 0 && path.has_value()) {
    Function load = Function::GetGlobalRequired("ffi.ModuleLoadFromFile");
    Expected<Any> inner = load.CallExpected((*path)());
    Function::SetGlobal("test_module.inner", Function::FromTyped([text = inner.error().message()] { return text; }));
  }
}
TVM_FFI_STATIC_INIT_BLOCK() {
  if (KIND == 0) reflection::GlobalDef().def("test_module.init", [](int x) { return x + 1; });
  if (KIND == 1) reflection::ObjectDef<ThingObj>().def_ro("size", &ThingObj::size);
  if (KIND == 2) reflection::ObjectDef<ThingObj>().def_ro("size", &ThingObj::size).def_ro("size", &ThingObj::size);
  if (KIND == 3) throw std::logic_error("not today");
}
TVM_FFI_STATIC_INIT_BLOCK() {
  if (KIND == 3) throw std::logic_error("later failures are not told");
}

} // namespace
