/* The common code of both binding libraries' modules: a class of objects, functions to bind, and global functions.
 *
 * KIND is the name of the binding library, a string. The functions to bind have plain C++ types; an object is passed as
 * its address. */
#ifndef FFI_HPY_TESTS_MIXED_SHARED_H_
#define FFI_HPY_TESTS_MIXED_SHARED_H_

#include <tvm/ffi/tvm_ffi.h>

#include <stdexcept>
#include <string>

namespace mixed {

namespace ffi = tvm::ffi;

class CounterObj : public ffi::Object {
public:
  int64_t count;
  explicit CounterObj(int64_t start) : count(start) {}
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_mixed." KIND ".Counter", CounterObj, ffi::Object);
};
class Counter : public ffi::ObjectRef {
public:
  explicit Counter(int64_t start) { data_ = ffi::make_object<CounterObj>(start); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Counter, ffi::ObjectRef, CounterObj);
};

inline ffi::ObjectRef kept;

/* Returns a new reference to the object at an address. */
inline ffi::ObjectRef object_at(uintptr_t address) {
  return ffi::GetRef<ffi::ObjectRef>(reinterpret_cast<const ffi::Object *>(address));
}
inline int64_t count_of(uintptr_t address) { return object_at(address).as_or_throw<Counter>()->count; }
inline void keep(uintptr_t address) { kept = object_at(address); }
inline void forget() { kept = ffi::ObjectRef(); }
inline int64_t call_global(const std::string &name, int64_t x) {
  return ffi::Function::GetGlobalRequired(name)(x).cast<int64_t>();
}
/* Returns kind and message of a global function's error, "" if it does not throw. */
inline std::string error_of(const std::string &name, int64_t x) {
  try {
    ffi::Function::GetGlobalRequired(name)(x);
  } catch (const ffi::Error &error) {
    return error.kind() + ": " + error.message();
  }
  return "";
}
inline void throw_error(const std::string &message) { TVM_FFI_THROW(ValueError) << message; }

TVM_FFI_STATIC_INIT_BLOCK() {
  ffi::reflection::ObjectDef<CounterObj>().def(ffi::reflection::init<int64_t>()).def_rw("count", &CounterObj::count);
  ffi::reflection::GlobalDef()
      .def("ffi_hpy_mixed." KIND ".make_counter", [](int64_t start) { return Counter(start); })
      .def("ffi_hpy_mixed." KIND ".kept", [] { return kept; })
      .def("ffi_hpy_mixed." KIND ".increment", [](Counter counter) { counter->count += 1; })
      .def("ffi_hpy_mixed." KIND ".throw_error", throw_error)
      .def("ffi_hpy_mixed." KIND ".throw_std", [](std::string message) { throw std::runtime_error(message); });
}

} // namespace mixed

#endif /* FFI_HPY_TESTS_MIXED_SHARED_H_ */
