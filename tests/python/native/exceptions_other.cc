// A library with a class of exceptions of the name and namespace of one in exceptions.cc, and another kind.
#include <tvm/ffi/tvm_ffi.h>

namespace shop {

class Shared : public std::exception {
public:
  const char *what() const noexcept override { return "there"; }
};

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::ErrorDef<Shared>("other_shop.Shared", "ArithmeticError");
  tvm::ffi::reflection::GlobalDef().def("other_shop.throw", [] { throw Shared(); });
}

} // namespace shop
