// Sources for nanobind that use types and functions of Python.h beside nanobind's.
#include <nanobind/intrusive/counter.inl>
#include <nanobind/intrusive/ref.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace { // classes of other tests have these names, too

int n_alive = 0;
std::vector<nb::object> seen;

// A call policy whose functions have the arguments as pointers.
struct Recorded {
  static void precall(PyObject **args, size_t n, nb::detail::cleanup_list *cleanup) {
    for (size_t i = 0; i < n; ++i) {
      if (PyUnicode_CheckExact(args[i]) && PyUnicode_CompareWithASCIIString(args[i], "swap me") == 0) {
        nb::object other = nb::cast("a text that is longer than a word");
        args[i] = other.ptr();
        cleanup->append(other.release().ptr());
      }
      seen.push_back(nb::borrow(args[i]));
    }
  }
  static void postcall(PyObject **args, std::integral_constant<size_t, 1>, nb::handle result) {
    seen.push_back(result.is_valid() ? nb::borrow(args[0]) : nb::cast("no result"));
  }
};

// A class with references that only its functions for the garbage collector know.
struct Owner {
  PyObject *ref;
  Owner(nb::object object) : ref(object.ptr()) {
    Py_XINCREF(ref);
    ++n_alive;
  }
  ~Owner() {
    Py_XDECREF(ref);
    --n_alive;
  }
};
int owner_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<Owner>(self)->ref);
  return 0;
}
int owner_clear(PyObject *self) {
  Py_CLEAR(nb::inst_ptr<Owner>(self)->ref);
  return 0;
}
Py_ssize_t owner_length(PyObject *) { return 3; }
PyObject *owner_repr(PyObject *) { return PyUnicode_FromString("an Owner"); }
PyObject *owner_item(PyObject *self, PyObject *key) {
  if (PyLong_AsLong(key) == 0) return Py_NewRef(nb::inst_ptr<Owner>(self)->ref);
  PyErr_SetString(PyExc_IndexError, "there is one item");
  return nullptr;
}
PyType_Slot owner_slots[] = {{Py_tp_traverse, (void *)owner_traverse}, {Py_tp_clear, (void *)owner_clear},
                             {Py_sq_length, (void *)owner_length},     {Py_tp_repr, (void *)owner_repr},
                             {Py_mp_subscript, (void *)owner_item},    {0, nullptr}};

// Numbers whose operators are functions of a class in CPython's form.
struct Money {
  long cents = 0;
};
long cents_of(PyObject *o) { return PyLong_Check(o) ? 100 * PyLong_AsLong(o) : nb::inst_ptr<Money>(o)->cents; }
bool is_money(PyObject *o) { return PyLong_Check(o) || nb::isinstance<Money>(o); }
PyObject *make_money(long cents) { return nb::cast(Money{cents}).release().ptr(); }
PyObject *money_subtract(PyObject *a, PyObject *b) {
  if (!is_money(a) || !is_money(b)) Py_RETURN_NOTIMPLEMENTED;
  return make_money(cents_of(a) - cents_of(b));
}
PyObject *money_add_here(PyObject *a, PyObject *b) {
  nb::inst_ptr<Money>(a)->cents += cents_of(b);
  return Py_NewRef(a);
}
PyObject *money_negative(PyObject *a) { return make_money(-cents_of(a)); }
PyObject *money_index(PyObject *a) { return PyLong_FromLong(cents_of(a)); }
PyObject *money_compare(PyObject *a, PyObject *b, int which) {
  if (!is_money(b)) Py_RETURN_NOTIMPLEMENTED;
  nb::object left = nb::steal(PyLong_FromLong(cents_of(a))), right = nb::steal(PyLong_FromLong(cents_of(b)));
  return PyObject_RichCompare(left.ptr(), right.ptr(), which);
}
Py_ssize_t money_length(PyObject *) { return 2; }
PyObject *money_item(PyObject *self, Py_ssize_t at) {
  if (at == 0) return PyLong_FromLong(cents_of(self) / 100);
  if (at == 1) return PyLong_FromLong(cents_of(self) % 100);
  PyErr_SetString(PyExc_IndexError, "there are two parts");
  return nullptr;
}
int money_set_item(PyObject *self, Py_ssize_t at, PyObject *value) {
  if (at != 1 || (value != nullptr && !PyLong_CheckExact(value))) {
    PyErr_SetString(PyExc_TypeError, "only the cents change");
    return -1;
  }
  long &cents = nb::inst_ptr<Money>(self)->cents;
  cents += (value != nullptr ? PyLong_AsLong(value) : 0) - cents % 100;
  return 0;
}
int money_contains(PyObject *self, PyObject *part) {
  return PyLong_Check(part) &&
         (cents_of(self) / 100 == PyLong_AsLong(part) || cents_of(self) % 100 == PyLong_AsLong(part));
}
PyObject *money_call(PyObject *self, PyObject *args, PyObject *named) {
  long sum = cents_of(self) + static_cast<long>(PyTuple_Size(args));
  return make_money(named == nullptr ? sum : sum + 100 * static_cast<long>(PyDict_Size(named)));
}
char money_doc[] = "An amount.";
PyType_Slot money_slots[] = {{Py_nb_subtract, (void *)money_subtract},
                             {Py_nb_inplace_add, (void *)money_add_here},
                             {Py_nb_negative, (void *)money_negative},
                             {Py_nb_index, (void *)money_index},
                             {Py_tp_richcompare, (void *)money_compare},
                             {Py_tp_call, (void *)money_call},
                             {Py_tp_doc, money_doc},
                             {Py_sq_length, (void *)money_length},
                             {Py_sq_item, (void *)money_item},
                             {Py_sq_ass_item, (void *)money_set_item},
                             {Py_sq_contains, (void *)money_contains},
                             {0, nullptr}};
// The memory of an object, with its description.
nb::object described(nb::handle o, int flags) {
  Py_buffer view;
  if (PyObject_GetBuffer(o.ptr(), &view, flags) != 0) throw nb::python_error();
  nb::list shape, strides;
  for (int i = 0; i < view.ndim; ++i) {
    if (view.shape != nullptr) shape.append(view.shape[i]);
    if (view.strides != nullptr) strides.append(view.strides[i]);
  }
  nb::object format = view.format == nullptr ? nb::object(nb::none()) : nb::str(view.format);
  auto made = nb::make_tuple(nb::bytes(view.buf, view.ndim == 0 ? 0 : 1), view.len, view.itemsize, view.readonly != 0,
                             format, shape, strides, PyBuffer_IsContiguous(&view, 'F') != 0, nb::handle(view.obj));
  if ((flags & PyBUF_WRITABLE) != 0) *static_cast<char *>(view.buf) = 'X';
  PyBuffer_Release(&view);
  if (view.obj != nullptr) throw std::runtime_error("the view refers to the object still");
  return made;
}
char shared_memory[] = "shared";

// The collector finds the members of this class by itself, so this function must not count a reference twice.
struct Field {
  nb::object value;
};
int field_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(nb::inst_ptr<Field>(self)->value.ptr());
  return 0;
}
PyType_Slot field_slots[] = {{Py_tp_traverse, (void *)field_traverse}, {0, nullptr}};

struct Point {
  Point() {}
  Point(int, int) {}
  Point(std::string) {}
};

class Counted : public nb::intrusive_base {
public:
  int value() const { return 7; }
};

} // namespace

NB_MODULE(nanobind_python, m) {
  nb::intrusive_init([](PyObject *o) noexcept { Py_INCREF(o); }, [](PyObject *o) noexcept { Py_DECREF(o); });
  nb::class_<nb::intrusive_base>(
      m, "Base",
      nb::intrusive_ptr<nb::intrusive_base>([](nb::intrusive_base *o, PyObject *po) noexcept { o->set_self_py(po); }));
  nb::class_<Counted, nb::intrusive_base>(m, "Counted").def(nb::init<>()).def("value", &Counted::value);
  m.def("same_counted", [](nb::ref<Counted> counted) { return counted; });
  m.def("is_pythons", [](Counted *counted) {
    PyObject *self = counted->self_py();
    return self != nullptr && nb::handle(self).is(nb::find(counted));
  });

  nb::class_<Owner>(m, "Owner", nb::type_slots(owner_slots)).def(nb::init<nb::object>(), nb::arg().none());
  nb::class_<Point>(m, "Point")
      .def(nb::init<>())
      .def(nb::init<int, int>(), nb::arg("x"), nb::arg("y") = 2, "A point of the plane.")
      .def(nb::init<std::string>(), nb::sig("def __init__(self, name: str) -> None"))
      .def("__init__", [](Point *self, std::vector<int>) { new (self) Point(); });
  nb::class_<Field>(m, "Field", nb::type_slots(field_slots)).def(nb::init<>()).def_rw("value", &Field::value);
  m.def("n_alive", [] { return n_alive; });

  m.def("through_pointer", [](nb::handle value) { return nb::borrow(value.ptr()); }, nb::arg("value").none());
  m.def(
      "is_one_pointer", [](nb::handle value) { return value.ptr() == nb::handle(value.ptr()).ptr(); },
      nb::arg("value").none());
  m.def(
      "through_owned_pointer", [](nb::object value) { return nb::steal(value.release().ptr()); },
      nb::arg("value").none());
  m.def("is_null", [] { return !nb::handle(static_cast<PyObject *>(nullptr)).is_valid(); });
  m.def("many", [](nb::args args, nb::kwargs named) { return nb::make_tuple(args, named); });
  m.def("in_list", [](nb::object value) {
    nb::list made;
    made.append(value);
    made.append(made[0]);
    return made;
  });
  m.def("empty", [] { return nb::object(); });
  m.def("empty_with_error", [] {
    PyErr_SetString(PyExc_KeyError, "not there");
    return nb::handle();
  });
  struct Box {};
  struct BoxOfInt : Box {};
  auto box = nb::class_<Box>(m, "Box", nb::is_generic());
  nb::class_<BoxOfInt>(m, "BoxOfInt", box[&PyLong_Type]);
  m.def("address", []() -> void * {
    static int number = 42;
    return &number;
  });
  m.def("null_address", []() -> void * { return nullptr; });
  m.def(
      "number_at", [](void *address) { return address == nullptr ? 0 : *static_cast<int *>(address); },
      nb::arg("address").none());
  m.def("other_capsule", [] { return nb::capsule(&n_alive, "other"); });
  m.def("references", [](nb::handle value) { return Py_REFCNT(value.ptr()); }, nb::arg("value").none());
  m.def("added_references", [](nb::object value) {
    Py_ssize_t before = Py_REFCNT(value.ptr());
    std::vector<nb::object> further(3, value);
    return Py_REFCNT(value.ptr()) - before;
  });
  m.def("references_of_key", [] {
    nb::dict items;
    nb::object key = nb::make_tuple(1, 2);
    items[key] = 7;
    Py_ssize_t before = Py_REFCNT(key.ptr());
    auto borrowed = items[key];
    Py_ssize_t first = Py_REFCNT(key.ptr());
    auto owned = items[nb::borrow(key)];
    Py_ssize_t second = Py_REFCNT(key.ptr());
    nb::list keys;
    keys.append(key);
    auto read = items[keys[0]];
    return nb::make_tuple(first - before, second - before, nb::object(borrowed), nb::object(owned), nb::object(read));
  });
  m.def("none", [] { return nb::borrow(Py_None); });
  m.def("is_bool_class", [](nb::handle type) { return type.is(&PyBool_Type); });
  m.def("int_class", [] { return nb::borrow(&PyLong_Type); });
  m.def("item", [](nb::object value, const char *name) { return nb::borrow(value.attr(name).ptr()); });
  m.def("handles_of_temporaries", [](nb::object value) {
    nb::handle number = value.attr("number"), first = value.attr("items")[0], type = value.type();
    PyObject *pointer = value.attr("items").ptr();
    nb::handle none = value.attr("none");
    std::vector<nb::object> others;
    for (int i = 0; i < 10; ++i) others.push_back(value.attr("items"));
    return nb::make_tuple(number, first, type, nb::handle(pointer), none);
  });
  m.def(
      "checks",
      [](nb::handle value) {
        PyObject *o = value.ptr();
        std::vector<std::string> found;
        if (PyBool_Check(o)) found.push_back("bool");
        if (PyLong_Check(o)) found.push_back("int");
        if (PyFloat_Check(o)) found.push_back("float");
        if (PyUnicode_Check(o)) found.push_back("str");
        if (PyBytes_Check(o)) found.push_back("bytes");
        if (PyList_Check(o)) found.push_back("list");
        if (PyTuple_Check(o)) found.push_back("tuple");
        if (PyDict_Check(o)) found.push_back("dict");
        if (PyCallable_Check(o)) found.push_back("callable");
        return found;
      },
      nb::arg("value").none());

  m.def("doubled", [](nb::handle number) {
    long value = PyLong_AsLong(number.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return nb::steal(PyLong_FromLong(2 * value));
  });
  m.def("made", [] {
    PyObject *list = PyList_New(0), *dict = PyDict_New(), *tuple = PyTuple_New(2);
    for (int i = 0; i < 3; ++i) {
      PyObject *number = PyFloat_FromDouble(i / 3.0);
      PyList_Append(list, number);
      Py_DECREF(number);
    }
    PyDict_SetItemString(dict, "list", list);
    PyTuple_SetItem(tuple, 0, PyUnicode_FromString("a text that is longer than a word"));
    PyTuple_SetItem(tuple, 1, PyBytes_FromStringAndSize("a\0b", 3));
    Py_DECREF(list);
    return nb::make_tuple(nb::steal(dict), nb::steal(tuple));
  });
  m.def("get", [](nb::dict dict, nb::handle key) {
    PyObject *found = PyDict_GetItem(dict.ptr(), key.ptr());
    return found != nullptr ? nb::borrow(found) : nb::cast("nothing");
  });
  m.def("total", [](nb::list numbers) {
    double sum = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(numbers.ptr()); ++i) {
      sum += PyFloat_AsDouble(PyList_GetItem(numbers.ptr(), i));
    }
    return sum;
  });
  m.def("call", [](nb::object f, nb::tuple args, nb::dict named) {
    return nb::steal(PyObject_Call(f.ptr(), args.ptr(), named.ptr()));
  });
  m.def("call_with_two", [](nb::object f, nb::object a, nb::object b) {
    PyObject *made = PyObject_CallFunctionObjArgs(f.ptr(), a.ptr(), b.ptr(), nullptr);
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  });
  m.def("attribute_or", [](nb::object o, const char *name, nb::object otherwise) {
    PyObject *found = PyObject_GetAttrString(o.ptr(), name);
    if (found != nullptr) return nb::steal(found);
    bool is_missing = PyErr_ExceptionMatches(PyExc_AttributeError) != 0;
    PyErr_Clear();
    if (!is_missing || PyErr_Occurred() != nullptr) throw std::runtime_error("another error");
    return otherwise;
  });
  m.def("set_error", [] {
    PyErr_SetString(PyExc_LookupError, "not here");
    throw nb::python_error();
  });
  m.def(
      "set_error_object",
      [](nb::handle type, nb::handle value) {
        PyErr_SetObject(type.ptr(), value.ptr());
        throw nb::python_error();
      },
      nb::arg("type"), nb::arg("value").none());
  nb::class_<Money>(m, "Money", nb::type_slots(money_slots))
      .def("__init__", [](Money *self, long cents) { new (self) Money{cents}; })
      .def_ro("cents", &Money::cents);
  m.def("described", &described);
  m.def("has_memory", [](nb::handle o) { return PyObject_CheckBuffer(o.ptr()) != 0; });
  m.def("memory", [](bool is_writable) {
    return nb::steal(PyMemoryView_FromMemory(shared_memory, 6, is_writable ? PyBUF_WRITE : PyBUF_READ));
  });
  m.def("shared_memory", [] { return nb::bytes(shared_memory, 6); });
  m.def("view_of", [](nb::handle o) {
    PyObject *made = PyMemoryView_FromObject(o.ptr());
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  });
  m.def("viewed", [](nb::handle view) {
    Py_buffer *seen = PyMemoryView_GET_BUFFER(view.ptr());
    return nb::bytes(seen->buf, static_cast<size_t>(seen->len));
  });
  m.def("exact", [](nb::handle value) {
    PyObject *o = value.ptr();
    return nb::make_tuple(PyLong_CheckExact(o), PyFloat_CheckExact(o), PyList_CheckExact(o), PyTuple_CheckExact(o),
                          PyDict_CheckExact(o), PyBytes_CheckExact(o));
  });
  m.def("computed", [](nb::handle a, nb::handle b) {
    nb::list made;
    for (auto operation : {PyNumber_Add, PyNumber_Subtract, PyNumber_Multiply, PyNumber_TrueDivide,
                           PyNumber_FloorDivide, PyNumber_Remainder}) {
      made.append(nb::steal(operation(a.ptr(), b.ptr())));
    }
    for (int which : {Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE}) {
      made.append(nb::steal(PyObject_RichCompare(a.ptr(), b.ptr(), which)));
      made.append(PyObject_RichCompareBool(a.ptr(), b.ptr(), which) == 1);
    }
    return made;
  });
  m.def("as_index", [](nb::handle value) {
    PyObject *made = PyNumber_Index(value.ptr());
    if (made == nullptr) throw nb::python_error();
    return nb::make_tuple(nb::steal(made), PyIndex_Check(value.ptr()) != 0, PyIter_Check(value.ptr()) != 0);
  });
  m.def("text_of", [](nb::handle value, nb::handle format) {
    return nb::make_tuple(nb::steal(PyObject_Format(value.ptr(), format.ptr())),
                          nb::steal(PyObject_Format(value.ptr(), nullptr)));
  });
  m.def("path_of", [](nb::handle path) {
    PyObject *made = PyOS_FSPath(path.ptr());
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  });
  m.def("is_subtype", [] {
    return nb::make_tuple(PyType_IsSubtype(&PyBool_Type, &PyLong_Type), PyType_IsSubtype(&PyLong_Type, &PyBool_Type));
  });
  nb::handle own = m, inner = m.def_submodule("inner");
  nb::handle imported = nb::module_::import_("math");
  m.def("modules", [own, inner, imported] { return nb::make_tuple(own, inner, imported); });
  m.def("filled_bytes", [](size_t n) {
    nb::bytes made(nullptr, n);
    char *data = const_cast<char *>(made.c_str());
    for (size_t i = 0; i < n; ++i) data[i] = static_cast<char>('a' + i % 26);
    return made;
  });
  m.def("format_error", [](int number) {
    PyErr_Format(PyExc_ValueError, "%d is wrong", number);
    nb::raise_python_error();
  });
  m.def("catch_and_go_on", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      error.restore();
      PyErr_Clear(); // as for nanobind, where restore() makes the error pending again
    }
    return 1;
  });
  m.def("check_signals", [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  m.def("sum_without_gil", [](std::vector<int> numbers) {
    int sum = 0;
    Py_BEGIN_ALLOW_THREADS for (int number : numbers) sum += number;
    Py_END_ALLOW_THREADS return sum;
  });

  m.def(
      "shorten",
      [](const std::string &text) {
        if (text == "throw") throw std::runtime_error("thrown");
        if (text == "not utf-8") return nb::cast(std::string("\xff"));
        return nb::cast(text.substr(1));
      },
      nb::call_policy<Recorded>());
  m.def("take_seen", [] { return std::exchange(seen, {}); });
}
