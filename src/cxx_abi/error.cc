/* error.cc - the exception class that clients throw and catch. */
#include "shapes.h"

namespace tvm {
namespace ffi {

Error::~Error() noexcept {}

const char *Error::what() const noexcept { return TVMFFIErrorGetCellPtr(handle())->message.data; }

} // namespace ffi
} // namespace tvm
