// A module with its own class, of one release of apache-tvm-ffi.
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

namespace {

namespace ffi = tvm::ffi;

class ModuleOfReleaseObj : public ffi::ModuleObj {
public:
  const char *kind() const final { return "module_of_release"; }
  ffi::Optional<ffi::Function> GetFunction(const ffi::String &name) final {
    if (name != "add_one") return std::nullopt;
    return ffi::Function::FromTyped([](int64_t x) { return x + 1; });
  }
};

ffi::Module make_module() { return ffi::Module(ffi::make_object<ModuleOfReleaseObj>()); }

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_module, make_module);
