// A module of a class of its own, of one release of apache-tvm-ffi.
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

namespace {

namespace ffi = tvm::ffi;

class ModuleOfReleaseObj : public ffi::ModuleObj {
public:
  const char *kind() const final { return "module_of_release"; }
#if GIVES_PLAIN_FUNCTION
  using MaybeFunction = ffi::Function;
#else
  using MaybeFunction = ffi::Optional<ffi::Function>;
#endif
  MaybeFunction GetFunction(const ffi::String &name) final {
    if (name != "add_one") return MaybeFunction(nullptr);
    return ffi::Function::FromTyped([](int64_t x) { return x + 1; });
  }
};

ffi::Module make_module() { return ffi::Module(ffi::make_object<ModuleOfReleaseObj>()); }

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_module, make_module);
