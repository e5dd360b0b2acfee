/* Programs without the header of a type. See refused.cc. */
#include <tvm/ffi/tvm_ffi.h>

#include <chrono>
#include <complex>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

using namespace tvm::ffi;
struct Foo {
  void operator()(const std::filesystem::path &) const;
};

//! vector: a type of the standard library: #include <tvm/ffi/extra/stl\.h>
void Use(const std::vector<Foo> &);
Function made = Function::FromTyped(Use);
//! map_result: a type of the standard library: #include <tvm/ffi/extra/stl\.h>
std::map<int, Foo> Use();
Function made = Function::FromTyped(Use);
//! shared_pointer: a type of the standard library: #include <tvm/ffi/extra/stl\.h>
void Use(std::shared_ptr<Foo>);
Function made = Function::FromTyped(Use);
//! callback: a type of the standard library: #include <tvm/ffi/extra/stl\.h>
void Use(const std::function<void(int, Foo, int)> &);
Function made = Function::FromTyped(Use);
//! complex: a std::complex: #include <tvm/ffi/extra/complex\.h>
void Use(const std::complex<Foo> &);
Function made = Function::FromTyped(Use);
//! duration: a time of std::chrono: #include <tvm/ffi/extra/chrono\.h>
void Use(std::chrono::duration<Foo>);
Function made = Function::FromTyped(Use);
//! path: a path: #include <tvm/ffi/extra/filesystem\.h>
Function made = Function::FromTyped(Foo{});
