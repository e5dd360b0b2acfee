// The C++ extension of the tests: one object type, functions over tensors, callbacks and threads.
//
// Compiled against apache-tvm-ffi's headers and linked with ffi_hpy's core, as a user's library is.
// tests/python/modules/test_extension.py and other tests call its functions; each is safe to call from several threads.
#include <dlfcn.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ffi_hpy_test {

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;

// --- an object type --------------------------------------------------------------------------------------------------

class IntPairObj : public ffi::Object {
public:
  int64_t a;
  int64_t b;
  // Outlives the object: the owner of a copy can find out whether the object is destroyed.
  std::shared_ptr<std::atomic<bool>> is_alive = std::make_shared<std::atomic<bool>>(true);

  IntPairObj(int64_t a, int64_t b) : a(a), b(b) {}
  ~IntPairObj() { is_alive->store(false); }

  int64_t Sum() const { return a + b; }
  bool HoldsGil() const;
  static int64_t Product(int64_t a, int64_t b) { return a * b; }

  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.IntPair", IntPairObj, ffi::Object);
};

class IntPair : public ffi::ObjectRef {
public:
  IntPair(int64_t a, int64_t b) { data_ = ffi::make_object<IntPairObj>(a, b); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(IntPair, ffi::ObjectRef, IntPairObj);
};

int64_t pair_sum(const IntPair &pair) { return pair->Sum(); }

IntPair make_pair(int64_t a, int64_t b) { return IntPair(a, b); }

// --- the GIL ---------------------------------------------------------------------------------------------------------

// Returns 1 if the calling thread may use the interpreter, 0 if not, -1 if this is unknown (no CPython).
int64_t gil_state() {
  using Check = int (*)();
  void *symbol = dlsym(RTLD_DEFAULT, "PyGILState_Check");
  return symbol == nullptr ? -1 : reinterpret_cast<Check>(symbol)();
}

bool IntPairObj::HoldsGil() const { return gil_state() == 1; }

// Returns when `n` threads are inside this function at the same time.
void rendezvous(int64_t id, int64_t n) {
  static std::mutex &mutex = *new std::mutex;
  static std::condition_variable &changed = *new std::condition_variable;
  static std::map<int64_t, int64_t> &arrived = *new std::map<int64_t, int64_t>;
  std::unique_lock<std::mutex> lock(mutex);
  arrived[id] += 1;
  changed.notify_all();
  changed.wait(lock, [&] { return arrived[id] >= n; });
}

// --- errors ----------------------------------------------------------------------------------------------------------

void raise_error(const ffi::String &message) { TVM_FFI_THROW(RuntimeError) << message; }

void raise_std_exception(const ffi::String &message) { throw std::runtime_error(message); }

// --- tensors ---------------------------------------------------------------------------------------------------------

void add_one(ffi::TensorView x, ffi::TensorView y) {
  TVM_FFI_CHECK(x.ndim() == 1 && y.ndim() == 1, ValueError) << "x and y must have one axis";
  TVM_FFI_CHECK(x.size(0) == y.size(0), ValueError) << "x has " << x.size(0) << " items, y has " << y.size(0);
  TVM_FFI_CHECK(x.dtype() == (DLDataType{kDLFloat, 32, 1}) && y.dtype() == x.dtype(), TypeError) << "not float32";
  TVM_FFI_CHECK(x.IsContiguous() && y.IsContiguous(), ValueError) << "x and y must be contiguous";
  const float *from = static_cast<const float *>(x.data_ptr());
  float *to = static_cast<float *>(y.data_ptr());
  for (int64_t i = 0; i < x.size(0); ++i) to[i] = from[i] + 1;
}

int64_t address_of(ffi::TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()) + x.byte_offset(); }

ffi::Shape strides_of(ffi::TensorView x) { return ffi::Shape(x.strides().begin(), x.strides().end()); }

// --- callbacks and threads -------------------------------------------------------------------------------------------

template <typename Work> auto on_thread(Work work) -> decltype(work()) {
  std::unique_ptr<ffi::Error> failed;
  decltype(work()) result{};
  std::thread([&] {
    try {
      result = work();
    } catch (const ffi::Error &error) {
      failed = std::make_unique<ffi::Error>(error);
    }
  }).join();
  if (failed) throw *failed;
  return result;
}

ffi::Any call_on_thread(ffi::Function f, ffi::Any argument) {
  return on_thread([&]() -> ffi::Any { return f(argument); });
}

// Calls f(thread, call) `n_calls` times on each of `n_threads` threads at once; returns the errors of failed calls.
ffi::Array<ffi::String> call_on_threads(ffi::Function f, int64_t n_threads, int64_t n_calls) {
  std::mutex mutex;
  ffi::Array<ffi::String> errors;
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < n_threads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t call = 0; call < n_calls; ++call) {
        try {
          f(thread, call);
        } catch (const ffi::Error &error) {
          std::lock_guard<std::mutex> lock(mutex);
          errors.push_back(std::string(error.kind()) + ": " + std::string(error.message()));
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  return errors;
}

struct Store {
  std::mutex mutex;
  std::map<int64_t, ffi::Any> values;
  int64_t next = 1;
};

// Never destroyed, because at exit it may hold Python objects of an interpreter that no longer exists.
Store &store() {
  static Store &only = *new Store;
  return only;
}

int64_t store_value(ffi::Any value) {
  std::lock_guard<std::mutex> lock(store().mutex);
  store().values[store().next] = std::move(value);
  return store().next++;
}

ffi::Any take_stored(int64_t id) {
  std::lock_guard<std::mutex> lock(store().mutex);
  auto found = store().values.find(id);
  TVM_FFI_CHECK(found != store().values.end(), KeyError) << id;
  ffi::Any value = std::move(found->second);
  store().values.erase(found);
  return value;
}

// Drops a stored value on a thread that is unknown to Python.
void drop_on_thread(int64_t id) {
  on_thread([&] {
    take_stored(id);
    return 0;
  });
}

// Calls f on a detached thread until it fails.
void call_until_failure(ffi::Function f) {
  std::thread([f = std::move(f)] {
    try {
      while (true) f();
    } catch (const ffi::Error &) {
    }
  }).detach();
}

// Drops the items of a list on a detached thread, slowly and one after the other.
void drop_slowly(ffi::Array<ffi::Any> items) {
  std::vector<ffi::Any> owned(items.begin(), items.end());
  std::thread([owned = std::move(owned)]() mutable {
    while (!owned.empty()) {
      owned.pop_back();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }).detach();
}

// Calls f, and returns whether the object is still alive. The caller owns the object: this function takes no reference.
bool is_alive_after(const IntPairObj *pair, ffi::Function f) {
  std::shared_ptr<std::atomic<bool>> is_alive = pair->is_alive;
  f();
  return is_alive->load();
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<IntPairObj>()
      .def(refl::init<int64_t, int64_t>())
      .def_ro("a", &IntPairObj::a, "The first number.")
      .def_ro("b", &IntPairObj::b, "The second number.")
      .def("sum", &IntPairObj::Sum, "a + b")
      .def("holds_gil", &IntPairObj::HoldsGil)
      .def("holds_gil_nonblocking", &IntPairObj::HoldsGil, refl::Metadata{{"nonblocking", true}})
      .def_static("product", &IntPairObj::Product, "Product of two numbers.");
  refl::GlobalDef()
      .def("ffi_hpy_test.gil_state", gil_state)
      .def("ffi_hpy_test.gil_state_nonblocking", gil_state, refl::Metadata{{"nonblocking", true}})
      .def("ffi_hpy_test.gil_state_blocking", gil_state, refl::Metadata{{"nonblocking", false}});
}

} // namespace ffi_hpy_test

TVM_FFI_DLL_EXPORT_TYPED_FUNC(pair_sum, ffi_hpy_test::pair_sum);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_pair, ffi_hpy_test::make_pair);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(gil_state, ffi_hpy_test::gil_state);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(rendezvous, ffi_hpy_test::rendezvous);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(raise_error, ffi_hpy_test::raise_error);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(raise_std_exception, ffi_hpy_test::raise_std_exception);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, ffi_hpy_test::add_one);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address_of, ffi_hpy_test::address_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(strides_of, ffi_hpy_test::strides_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_on_thread, ffi_hpy_test::call_on_thread);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_on_threads, ffi_hpy_test::call_on_threads);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(store_value, ffi_hpy_test::store_value);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(take_stored, ffi_hpy_test::take_stored);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(drop_on_thread, ffi_hpy_test::drop_on_thread);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_until_failure, ffi_hpy_test::call_until_failure);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(drop_slowly, ffi_hpy_test::drop_slowly);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(is_alive_after, ffi_hpy_test::is_alive_after);
