/* bind.h - binds existing C++ functions, classes and enums to Python, in the vocabulary of nanobind.
 *
 *   #include <ffi_hpy/bind.h>
 *
 *   namespace nb = ffi_hpy;
 *   using namespace nb::literals;
 *
 *   struct Dog { std::string name; std::string bark() const { return name + ": woof!"; } };
 *
 *   FFI_HPY_MODULE(kennel, m) {
 *     m.def("add", [](int a, int b) { return a + b; }, "a"_a, "b"_a = 1);
 *     nb::class_<Dog>(m, "Dog").def(nb::init<std::string>()).def_rw("name", &Dog::name).def("bark", &Dog::bark);
 *   }
 *
 * The library is one file for every Python, and depends on none: `import kennel` loads it. The headers of stl/ add
 * types of the standard library. Classes are types of the ABI, so other languages see their methods and properties. */
#ifndef FFI_HPY_BIND_H_
#define FFI_HPY_BIND_H_

#include <ffi_hpy/bind/builder.h>
#include <ffi_hpy/bind/class.h>
#include <ffi_hpy/bind/enum.h>
#include <ffi_hpy/bind/inspect.h>
#include <ffi_hpy/bind/module.h>
#include <ffi_hpy/bind/weak_callback.h>

#endif /* FFI_HPY_BIND_H_ */
