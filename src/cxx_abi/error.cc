/* error.cc - the exception class of clients, and the place where their exceptions become errors. */
#include "call.h"

#include <string.h>

namespace tvm {
namespace ffi {

Error::~Error() noexcept {}

const char *Error::what() const noexcept { return TVMFFIErrorGetCellPtr(handle())->message.data; }

} // namespace ffi
} // namespace tvm

namespace fx {

/* catch_cxx(code, state): runs code(state); a C++ exception becomes the error of this call. The core calls virtual
 * functions of modules through it. */
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
  } catch (const __cxxabiv1::__forced_unwind &) {
    throw;
  } catch (...) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", "A C++ exception that is no std::exception was thrown");
  }
  return -1;
}

/* Without memory the core goes on without: as if the bridge had not been loaded. */
__attribute__((constructor)) static void register_catcher() {
  const char *name = "ffi_hpy.catch_cxx";
  TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle function;
  int rc = TVMFFIFunctionCreate(nullptr, catch_cxx, nullptr, &function);
  if (rc == 0) {
    rc = TVMFFIFunctionSetGlobal(&text, function, 1);
    TVMFFIObjectDecRef(function);
  }
  if (rc != 0) {
    TVMFFIErrorMoveFromRaised(&function);
    TVMFFIObjectDecRef(function);
  }
}

} // namespace fx
