/* Programs with bind.h that must not compile. See refused.cc. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/pair.h>

#include <list>
#include <optional>
#include <string>

namespace nb = ffi_hpy;
using namespace nb::literals;

struct Foo {
  int x = 0;
  int method(int y) const { return x + y; }

private:
  explicit Foo(double) {}
};
struct Bar {};

//! too_few_names: name all parameters of the function or none
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, int) {}, "foo"_a);
}
//! too_many_names: name all parameters of the function or none
void define(nb::module_ &m) {
  m.def("f", [](const Foo &) {}, "foo"_a, "bar"_a);
}
//! too_many_names_of_a_method: name all parameters of the function or none
void define(nb::class_<Foo> &cl) { cl.def("f", &Foo::method, "self"_a, "x"_a, "y"_a); }
//! caster_of_a_parameter: a type of the standard library needs its header of ffi_hpy/stl
void define(nb::module_ &m) {
  m.def("f", [](const std::list<Foo> &) {});
}
//! caster_of_a_result: a type of the standard library needs its header of ffi_hpy/stl
void define(nb::module_ &m) {
  m.def("f", [] { return std::optional<Foo>(); });
}
//! array: this type cannot be a parameter or a result
void define(nb::module_ &m) {
  m.def("f", [](Foo(&)[3]) {});
}
//! private_constructor: the class has no public constructor with these parameters
void define(nb::class_<Foo> &cl) { cl.def(nb::init<double>()); }
//! other_constructor: the class has no public constructor with these parameters
void define(nb::class_<Foo> &cl) { cl.def(nb::init<int, int, int>()); }
//! cast_to_a_reference: a cast to a reference or a pointer needs a bound class
int second(nb::handle both) { return nb::cast<const std::pair<Foo, int> &>(both).second; }
//! cast_to_a_pointer: a cast to a reference or a pointer needs a bound class
bool read(nb::handle both, std::pair<Foo, int> *&to) { return nb::try_cast(both, to); }
//! no_base_class: class_<T, Base, Trampoline>
void define(nb::module_ &m) { nb::class_<Foo, Bar>(m, "Foo"); }
