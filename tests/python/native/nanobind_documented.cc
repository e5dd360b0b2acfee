/* nanobind_documented.cc - less usual parts of nanobind's API that its documentation shows. */
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace {

struct Leash {
  int length = 2;
};
enum Kind { Small, Large };
/* A class that is bound before the classes of its parameters. */
struct Dog {
  Dog(Leash, Kind kind) : kind(kind) {}
  Leash leash(Leash given, Kind) { return given; }
  bool operator<(Kind other) const { return kind < other; }
  Kind kind;
};
struct Weight {
  int grams;
};
struct Tag {
  int n;
};

PyObject *multiply(PyObject *a, PyObject *b) { return PyNumber_Multiply(a, b); }
PyType_Slot slots[] = {{Py_nb_add, reinterpret_cast<void *>(multiply)}, {0, nullptr}};

} // namespace

NB_MODULE(nanobind_documented, m) {
  nb::class_<Dog> dog(m, "Dog");
  dog.def(nb::init<Leash, Kind>())
      .def("leash", &Dog::leash, "Takes the dog for a walk.")
      .def("__lt__", [](const Dog &a, Kind b) { return a < b; })
      .freeze();
  nb::class_<Leash>(m, "Leash").def(nb::init<>());
  nb::enum_<Kind>(m, "Kind").value("Small", Small).value("Large", Large);

  nb::class_<Weight>(m, "Weight", nb::type_slots(slots))
      .def(nb::init<int>())
      .def_ro("grams", &Weight::grams)
      .def("__mul__", [](const Weight &a, const Weight &b) { return Weight{a.grams * b.grams}; }, nb::is_operator());
  m.def("operators", [](nb::handle a, nb::handle b) {
    PyObject *x = a.ptr(), *y = b.ptr();
    nb::list all;
    for (PyObject *made : {PyNumber_Add(x, y), PyNumber_Subtract(x, y), PyNumber_TrueDivide(x, y),
                           PyNumber_FloorDivide(x, y), PyNumber_Remainder(x, y), PyNumber_And(x, y), PyNumber_Or(x, y),
                           PyNumber_Xor(x, y), PyNumber_Lshift(x, y), PyNumber_Rshift(x, y)})
      all.append(nb::steal(made));
    return all;
  });

  nb::class_<Tag> tag(m, "Tag");
  tag.attr("@owner") = "C++";

  nb::module_ inner = m.def_submodule("inner");
  m.def("scoped", [] { return 1; }, nb::scope(inner));

  m.def("with_gil", [] {
    nb::gil_scoped_release released;
    nb::gil_scoped_acquire guard;
    return guard ? 1 : 0;
  });
  m.def("refused", [] {
    static Leash leash;
    try {
      nb::cast(&leash, nb::rv_policy::none);
    } catch (const nb::cast_error &) {
      return true;
    }
    return false;
  });
  m.def("chained", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      nb::raise_from(error, PyExc_RuntimeError, "the call %i failed", 1);
    }
  });
  m.def("ignored", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      error.discard_as_unraisable("a destructor");
    }
  });
}
