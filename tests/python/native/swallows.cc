// A library that catches everything. Some exceptions cannot be swallowed, such as the one with which pthread_exit
// unwinds a stack; here they end the process. So these functions must not be unwound by force.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <chrono>
#include <thread>

namespace {

namespace ffi = tvm::ffi;

void doze() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

template <typename Work> void swallow_all(Work work) noexcept {
  try {
    work();
  } catch (...) {
  }
}

void swallow(ffi::Function f) {
  try {
    f(3);
  } catch (...) {
  }
}

void swallow_noexcept(ffi::Function f) {
  swallow_all([&] { f(3); });
}

// Drops the result of f.
void drop_result(ffi::Function f) {
  swallow_all([&] { ffi::Any result = f(3); });
}

void ask_for_signals(int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    swallow_all([] { (void)TVMFFIEnvCheckSignals(); });
    doze();
  }
}

// Runs `work` forever on a thread that is unknown to Python.
template <typename Work> void repeat_on_thread(Work work) {
  std::thread([work] {
    while (true) {
      work();
      doze();
    }
  }).detach();
}

void call_on_thread(ffi::Function f) {
  repeat_on_thread([f] { swallow_noexcept(f); });
}

void drop_on_thread(ffi::Function f) {
  repeat_on_thread([f] { drop_result(f); });
}

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(doze, doze);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(swallow, swallow);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(swallow_noexcept, swallow_noexcept);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(drop_result, drop_result);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(ask_for_signals, ask_for_signals);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_on_thread, call_on_thread);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(drop_on_thread, drop_on_thread);
