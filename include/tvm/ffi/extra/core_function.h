/* core_function.h - lets headers call functions of libtvm_ffi by name, so that programs link only the C ABI. */
#ifndef TVM_FFI_EXTRA_CORE_FUNCTION_H_
#define TVM_FFI_EXTRA_CORE_FUNCTION_H_

#include <tvm/ffi/function.h>

namespace tvm::ffi::detail {

/** The global function of that name, looked up at the first call; ValueError if there is none. The function is never
 * released, because objects that need it may outlive all variables. */
template <const char *kName> const Function &CoreFunction() {
  static const Function &function = *new Function(Function::GetGlobalRequired(kName));
  return function;
}

/** The address of a C function of type F, which the global function of that name returns; looked up at the first call.
 * `fallback` if libtvm_ffi does not have that global function. */
template <const char *kName, typename F> F CoreAddress(F fallback) {
  static const F address = [fallback]() -> F {
    std::optional<Function> get = Function::GetGlobal(kName);
    return get.has_value() ? reinterpret_cast<F>((*get)().template cast<void *>()) : fallback;
  }();
  return address;
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_EXTRA_CORE_FUNCTION_H_ */
