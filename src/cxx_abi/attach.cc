/* attach.cc - gives the core, which is C, functions that catch and throw C++ exceptions, and the type_info of the
 * module class. */
#include "call.h"

#include <string.h>

namespace fx {

#ifdef FX_LIBSTDCXX
/* Some newer compilers that build for an older libstdc++ produce clients that use std::cout without initialising it.
 * Such a stream works because the reference's libtvm_ffi.so initialises it; this object does so here. */
static std::ios_base::Init streams;
#endif

/* catch_cxx(code, state): calls code(state). A C++ exception becomes the error of this call. The core calls the virtual
 * functions of modules through this function. */
static int catch_cxx(void *, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *) {
  if (n_args != 2 || args[0].type_index != kTVMFFIOpaquePtr || args[1].type_index != kTVMFFIOpaquePtr) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "ffi_hpy.catch_cxx: expected the addresses of a function and its state");
    return -1;
  }
  try {
    reinterpret_cast<void (*)(void *)>(args[0].v_ptr)(args[1].v_ptr);
    return 0;
  } catch (const Error &error) {
    TVMFFIErrorSetRaised(error.handle());
  } catch (const std::exception &error) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", error.what());
#ifdef FX_LIBSTDCXX
  } catch (const __cxxabiv1::__forced_unwind &) {
    throw;
#endif
  } catch (...) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", "A C++ exception that is not a std::exception was thrown");
  }
  return -1;
}

static TVMFFIAny view_of_address(const void *address) {
  TVMFFIAny view{};
  view.type_index = kTVMFFIOpaquePtr;
  view.v_ptr = const_cast<void *>(address);
  return view;
}

static void register_catcher() {
  const char *name = "ffi_hpy.catch_cxx";
  TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle handle;
  if (TVMFFIFunctionCreate(nullptr, catch_cxx, nullptr, &handle) != 0) raise_pending();
  ObjectRef function(handle);
  if (TVMFFIFunctionSetGlobal(&text, handle, 1) != 0) raise_pending();
}

/* If this fails because memory is exhausted, the core works without libtvm_ffi_cxx.so. */
__attribute__((constructor)) static void attach() {
  try {
    const void *raise = reinterpret_cast<void *>(raise_pending);
    call("ffi_hpy.module_attach_cxx", {view_of_address(&typeid(tvm::ffi::ModuleObj)), view_of_address(raise)});
    register_catcher();
  } catch (const Error &) {
  }
}

} // namespace fx
