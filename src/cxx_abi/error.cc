/* error.cc - the exception class of clients. */
#include "call.h"

namespace tvm {
namespace ffi {

Error::~Error() noexcept {}

const char *Error::what() const noexcept { return TVMFFIErrorGetCellPtr(handle())->message.data; }

} // namespace ffi
} // namespace tvm
