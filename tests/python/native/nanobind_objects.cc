// A library that was written for nanobind: the objects of Python, their classes, and arguments that are None.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace nb = nanobind;
using namespace nb::literals;

static_assert(std::is_same_v<decltype(nb::detail::forward_like_<std::string>(std::declval<int &>())), int &&>);
static_assert(std::is_same_v<decltype(nb::detail::forward_like_<std::string &>(std::declval<int &>())), int &>);

// A class of Python objects of this library.
class Counter : public nb::dict {
  NB_OBJECT_DEFAULT(Counter, nb::dict, "collections.Counter", PyDict_Check)

  int total() const {
    int sum = 0;
    for (auto [key, value] : *this) sum += nb::cast<int>(value);
    return sum;
  }
};

// Members that are set later.
struct Unset {
  nb::callable callable;
  nb::int_ number;
  nb::float_ real;
  nb::bool_ flag;
  nb::str text;
  nb::bytes bytes;
  nb::capsule capsule;
  nb::iterator iterator;
  nb::iterable iterable;
  nb::sequence sequence;
  nb::mapping mapping;
  nb::type_object type;
  nb::slice slice;
  nb::any any;
  nb::handle_t<int> handle;
  nb::exception<std::runtime_error> exception;
  nb::typed<nb::callable, void()> typed;

  bool is_any_valid() const {
    return callable.is_valid() || number.is_valid() || real.is_valid() || flag.is_valid() || text.is_valid() ||
           bytes.is_valid() || capsule.is_valid() || iterator.is_valid() || iterable.is_valid() ||
           sequence.is_valid() || mapping.is_valid() || type.is_valid() || slice.is_valid() || any.is_valid() ||
           handle.is_valid() || exception.is_valid() || typed.is_valid();
  }
};

struct Item {
  nb::object value;
};

struct Several {
  nb::object value;
  explicit Several(nb::object given) : value(std::move(given)) {}
  Several(int a, int b) : value(nb::int_(a + b)) {}
};

struct Number {
  int value;
  explicit Number(int value) : value(value) {}
};
struct Sealed {};
struct Even : Number {
  explicit Even(int half) : Number(2 * half) {}
};

std::atomic<bool> is_set{false};

/* Virtual functions with objects of Python. */
struct Source {
  virtual ~Source() = default;
  virtual nb::object object(nb::object given) { return given; }
  virtual nb::list list() { return nb::list(); }
  virtual nb::dict dict() = 0;
  virtual std::vector<nb::object> objects() { return {}; }
  virtual std::optional<nb::tuple> tuple() { return std::nullopt; }
};
struct PySource : Source {
  NB_TRAMPOLINE(Source, 5);
  nb::object object(nb::object given) override { NB_OVERRIDE(object, given); }
  nb::list list() override { NB_OVERRIDE(list); }
  nb::dict dict() override { NB_OVERRIDE_PURE(dict); }
  std::vector<nb::object> objects() override { NB_OVERRIDE(objects); }
  std::optional<nb::tuple> tuple() override { NB_OVERRIDE(tuple); }
};

struct Visited {};
struct Placed {};
/* The object counts its uses, so its function changes it. */
struct AddsName : nb::def_visitor<AddsName> {
  const char *name;
  int n_uses = 0;
  explicit AddsName(const char *name) : name(name) {}
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) {
    int n = ++n_uses;
    cl.def(name, [n](const typename Class::Type &) { return n; }, extra...);
  }
};

struct Attributes {
  std::string log;
  int n = 0;
};
struct EqualValue {
  explicit EqualValue(int n) : n(n) {}
  bool operator==(const EqualValue &other) const { return n == other.n; }
  int n;
};

int n_capsules_ended = 0;

NB_MODULE(nanobind_objects, m) {
  nb::module_ inner = m.def_submodule("inner", nullptr);
  m.def("is_any_valid", [] { return Unset().is_any_valid(); });
  m.def("empty_arguments", [] { return nb::make_tuple(nb::args(), nb::kwargs()); });
  m.def("total", [](Counter counter) { return counter.total(); });

  m.def("converted", [](nb::object o) {
    nb::str text = o.attr("text");
    nb::list items;
    items = o.attr("items");
    return nb::make_tuple(text, items, nb::str(o.attr("number")), o.attr("text").base().is(o));
  });
  m.def("appended_to", [](nb::object o) {
    nb::list items(o.attr("items"));
    items.append(3);
    return items;
  });
  m.def("returned", [](nb::object o) -> nb::list { return o.attr("items"); });
  m.def("is_type", [](nb::object o) { return nb::make_tuple(o.is_type(), o.attr("__class__").is_type()); });
  m.def("in_place", [](nb::object o) {
    o.attr("number") <<= nb::int_(3);
    o.attr("number") >>= nb::int_(1);
    o.attr("number") %= nb::int_(7);
    nb::object number = o.attr("number");
    number %= nb::int_(4);
    return nb::make_tuple(o.attr("number"), number);
  });
  m.def("in_place_handle", [](nb::handle a, nb::handle b) { return a += b; });
  m.def("contains",
        [](nb::mapping values, nb::object key) { return nb::make_tuple(values.contains(key), values.contains("a")); });
  m.def("kinds", [](nb::handle value) {
    return nb::make_tuple(nb::isinstance<nb::sequence>(value), nb::isinstance<nb::mapping>(value),
                          nb::isinstance<nb::iterable>(value), nb::isinstance<nb::iterator>(value),
                          nb::handle::check_(value));
  });
  m.def("iterators", [](nb::list items) {
    auto a = items.begin(), b = items.begin();
    bool is_equal = a == b;
    ++a;
    return nb::make_tuple(is_equal, a == b, a != items.end());
  });
  m.def("capsule_names", [] {
    static int number = 42;
    nb::capsule unnamed(&number), named(&number, "number"), none(nullptr);
    return nb::make_tuple(unnamed.name() == nullptr, std::string(named.name()), none.name() == nullptr,
                          none.data() == nullptr, unnamed.data(nullptr) == &number);
  });
  m.def("capsule_of_other_name", [] {
    static int number = 42;
    return nb::capsule(&number).data("number") != nullptr;
  });
  m.def(
      "new_capsule",
      [](std::optional<std::string> name) {
        static int number = 42;
        auto end = [](void *address) noexcept { n_capsules_ended += *static_cast<int *>(address) == 42 ? 1 : 100; };
        return nb::capsule(&number, name.has_value() ? name->c_str() : nullptr, end);
      },
      "name"_a.none());
  m.def("n_capsules_ended", [] { return n_capsules_ended; });
  m.def("capsule_name", [](nb::capsule value) { return value.name(); });
  m.def("is_same_or_equal", [](nb::object a, nb::object b) { return nb::make_tuple(a.equal(b), a.not_equal(b)); });
  m.def("bytes_of", [](nb::object value) { return nb::bytes(value); }, "value"_a.none());
  m.def("set_function", [](nb::handle scope) {
    nb::cpp_function([](int x) { return x + 1; }, nb::scope(scope), nb::name("next"), "x"_a, nullptr);
  });

  m.def("takes", [](nb::object) { return "object"; });
  m.def("takes", [](std::optional<int>) { return "optional"; });
  m.def("takes_handle", [](nb::handle value) { return value.is_none(); });
  nb::class_<Attributes>(m, "Attributes")
      .def(nb::init<>())
      .def("__getattr__",
           [](Attributes &, const std::string &name) {
             if (name != "magic") throw nb::attribute_error(name.c_str());
             return 42;
           })
      .def("__setattr__",
           [](Attributes &self, const std::string &name, int value) { self.log += name, self.n += value; })
      .def("log", [](Attributes &self) { return self.log + std::to_string(self.n); });
  nb::class_<EqualValue>(m, "Equal").def(nb::init<int>()).def(nb::self == nb::self);
  nb::class_<Placed>(m, "Placed").def("__init__", [](Placed *self, nb::handle) { new (self) Placed(); });
  m.def("takes_any", [](nb::any value) { return value.is_none(); });
  m.def("takes_none", [](nb::object value) { return value.is_none(); }, nb::arg().none());
  m.def("has_default", [](nb::object value) { return value.is_none(); }, "value"_a = nb::none());
  nb::class_<Several>(m, "Several")
      .def(nb::init<nb::object>())
      .def(nb::init<int, int>())
      .def_ro("value", &Several::value)
      .def("itself", [](Several &, nb::object value) { return value; })
      .def("itself", [](Several &, int, int) { return 2; })
      .def_static("list", [](nb::list value) { return value; })
      .def_static("list", [](int value) { return value; });
  nb::class_<Item>(m, "Item")
      .def(nb::init<>())
      .def_rw("value", &Item::value)
      .def_rw("optional", &Item::value, nb::arg("value").none())
      .def("set", [](Item &item, nb::object value) { item.value = value; });

  m.def("itself", [](nb::object value) { return value; });
  m.def("itself", [](int, int) { return "two numbers"; });
  m.def("call", [](std::function<nb::object(nb::object)> f, nb::object value) { return f(value); });
  m.def("call_for_list", [](std::function<nb::list(nb::dict)> f, nb::dict value) { return f(value); });
  m.def("call_first", [](std::vector<std::function<nb::object()>> all) { return all.at(0)(); });
  nb::class_<Source, PySource>(m, "Source").def(nb::init<>()).def("object", &Source::object).def("list", &Source::list);
  m.def("read", [](Source &source, nb::object value) {
    return nb::make_tuple(source.object(value), source.list(), source.dict(), source.objects().at(0),
                          source.tuple().value());
  });
  m.def("exact", [](double) { return "float"; }, nb::arg().noconvert());
  m.def("exact", [](const char *) { return "str"; });
  m.def("int_or_bool", [](int) { return "int"; });
  m.def("int_or_bool", [](bool) { return "bool"; });
  m.def("int_only", [](int x) { return x; }, nb::arg().noconvert());
  m.def("alternative", [](std::variant<int, bool> value) { return value.index(); });
  m.def("int_of", [](int x) { return x; });
  nb::class_<Number>(m, "Number").def(nb::init<int>()).def_rw("value", &Number::value);
  nb::class_<Even, Number>(m, "Even").def(nb::init<int>());
  nb::class_<Sealed>(m, "Sealed", nb::is_final()).def(nb::init<>());
  nb::implicitly_convertible<int, Number>();
  m.def("number_of", [](const Number &number) { return number.value; });
  m.def("fits_int", [](nb::handle value) { return nb::isinstance<int>(value); });
  /* The call waits for another thread of Python: with the GIL it would wait forever. */
  m.def(
      "wait",
      [] {
        while (!is_set.load()) std::this_thread::yield();
      },
      nb::call_guard<nb::gil_scoped_release>());
  m.def("wait", [](int) {});
  m.def("set", [] { is_set.store(true); });
  nb::class_<Visited>(m, "Visited").def(nb::init<>()).def(AddsName{"visited"});

  m.def("cast_fails", [](nb::object value) {
    try {
      return nb::cast<int>(value);
    } catch (const std::bad_cast &) {
      return -1;
    }
  });
  m.def("throw_type", [](int which) {
    throw nb::builtin_exception(which == 0 ? nb::exception_type::buffer_error : nb::exception_type::runtime_error,
                                "by its type");
  });
  m.def("skips", [](int) -> int { throw nb::next_overload("another one"); });
  m.def("skips", [](double x) { return x; });
  m.def("chain_nothing", [] {
    nb::chain_error(PyExc_TypeError, "no %s", "cause");
    nb::raise_python_error();
  });
  m.attr("size") = nb::ssize_t(3);
}
