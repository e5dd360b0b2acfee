/* core_function.h - the global functions of libtvm_ffi that headers call: nothing but the C ABI is linked. */
#ifndef TVM_FFI_EXTRA_CORE_FUNCTION_H_
#define TVM_FFI_EXTRA_CORE_FUNCTION_H_

#include <tvm/ffi/function.h>

namespace tvm {
namespace ffi {
namespace detail {

/* The function of that name, found at the first call; ValueError if there is none. It is kept for good: objects that
 * need it may end after all variables. */
template <const char *kName> const Function &CoreFunction() {
  static const Function &function = *new Function(Function::GetGlobalRequired(kName));
  return function;
}

} // namespace detail
} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_CORE_FUNCTION_H_ */
