/* Programs with bind.h that must not compile. See refused.cc. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/pair.h>

#include <chrono>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <stack>
#include <string>

namespace nb = ffi_hpy;
using namespace nb::literals;

struct Foo {
  int x = 0;
  const int c = 0;
  int method(int y) const { return x + y; }

private:
  explicit Foo(double) {}
};
struct Bar {
  int z = 0;
  void go() {}
};
struct Abstract {
  explicit Abstract(const Foo &) {}
  virtual ~Abstract() = default;
  virtual int f() const = 0;
};

/* Not refused: a member of a union, and a method that has no parameter, for its signature. */
union Either {
  int i;
  float f;
};
inline void accepted(nb::class_<Either> &cl) {
  cl.def_rw("i", &Either::i).def("empty", [] {}, nb::sig("def empty(self) -> None"));
}

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
//! list: a type of the standard library: #include <ffi_hpy/stl/list\.h>; or FFI_HPY_MAKE_OPAQUE
void define(nb::module_ &m) {
  m.def("f", [](const std::list<Foo> &) {});
}
//! optional_result: a type of the standard library: #include <ffi_hpy/stl/optional\.h>; or FFI_HPY_MAKE_OPAQUE
void define(nb::module_ &m) {
  m.def("f", [] { return std::optional<Foo>(); });
}
//! map: a type of the standard library: #include <ffi_hpy/stl/map\.h>
void define(nb::module_ &m) {
  m.def("f", [](const std::map<int, Foo> &) {});
}
//! duration: a type of the standard library: #include <ffi_hpy/stl/chrono\.h>
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, std::chrono::seconds) {});
}
//! path: a type of the standard library: #include <ffi_hpy/stl/filesystem\.h>
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, const std::filesystem::path &) {});
}
//! wstring: a type of the standard library: #include <ffi_hpy/stl/wstring\.h>
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, const std::wstring &) {});
}
//! stack: a type of the standard library without a header in ffi_hpy/stl: FFI_HPY_MAKE_OPAQUE
void define(nb::module_ &m) {
  m.def("f", [](const std::stack<Foo> &) {});
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
//! const_member: def_rw: the member is const
void define(nb::class_<Foo> &cl) { cl.def_rw("c", &Foo::c); }
//! member_of_another_class: this is a member of another class, which is not a base of the bound one
void define(nb::class_<Foo> &cl) { cl.def_rw("z", &Bar::z); }
//! method_of_another_class: this is a member of another class, which is not a base of the bound one
void define(nb::class_<Foo> &cl) { cl.def("go", &Bar::go); }
//! method_as_a_member: this is a member function
void define(nb::class_<Foo> &cl) { cl.def_ro("method", &Foo::method); }
//! setter_without_a_value: the function that sets a property has two parameters: the object and the value
void define(nb::class_<Foo> &cl) {
  cl.def_prop_rw("p", [](const Foo &) { return 1; }, [](Foo &) {});
}
//! abstract_class: the class has no public constructor with these parameters, or it is abstract
void define(nb::class_<Abstract> &cl) { cl.def(nb::init<Foo>()); }
//! index_of_keep_alive: keep_alive: an index is larger than the number of arguments
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, Bar &) {}, nb::keep_alive<1, 3>());
}
//! kw_only_twice: kw_only\(\) is given once, between the names of parameters
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, int) {}, "a"_a, nb::kw_only(), nb::kw_only(), "b"_a);
}
//! kw_only_without_names: kw_only\(\) is given once, between the names of parameters
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, int) {}, nb::kw_only());
}
//! documentation_as_a_string: a further argument is neither a text \(const char \*\) nor an option of bind.h
void define(nb::module_ &m) {
  m.def("f", [](const Foo &) {}, std::string("Does it."));
}
//! number_as_an_option: a further argument is neither a text \(const char \*\) nor an option of bind.h
void define(nb::module_ &m) {
  m.def("f", [](const Foo &) {}, 2.5);
}
//! no_function: this cannot be bound: bind a function
void define(nb::module_ &m) { m.def("f", *static_cast<Foo *>(nullptr)); }
//! generic_lambda: this cannot be bound: bind a function
void define(nb::module_ &m) {
  m.def("f", [](const Foo &, auto x) { return x; });
}
//! class_with_a_caster: class_<T>: a caster converts T already
void define(nb::module_ &m) { nb::class_<std::pair<Foo, int>>(m, "Pair"); }
//! no_class: class_<T>: T is not a class
void define(nb::module_ &m) { nb::class_<Foo *>(m, "Foo"); }
