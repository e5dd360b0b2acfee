/* A library that uses Python objects in C++: the module `bound_objects`. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/eval.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

struct Box {
  int value = 0;
};

struct Celsius {
  double degrees;
};

} // namespace

template <> struct ffi_hpy::detail::type_caster<Celsius> {
  FFI_HPY_TYPE_CASTER(Celsius, const_name("float"));
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<double> inner;
    if (!inner.from_python(source, flags, cleanup)) return false;
    value.degrees = inner.value;
    return true;
  }
  static handle from_cpp(Celsius source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make_caster<double>::from_cpp(source.degrees, policy, cleanup);
  }
};

/* Has members that are objects of Python. */
struct Shelf {
  nb::object left, right;
};

/* Counts copies. */
struct Counted {
  Counted() = default;
  Counted(const Counted &) { ++n_copies; }
  Counted(Counted &&) noexcept {}
  Counted &operator=(const Counted &) {
    ++n_copies;
    return *this;
  }
  Counted &operator=(Counted &&) noexcept { return *this; }
  static inline int n_copies = 0;
};
struct Moved {
  std::vector<Counted> items;
};

/* Objects that C++ knows by their addresses alone. */
struct Linked {
  Linked() { last = this; }
  Linked(const Linked &) = delete;
  ~Linked() {
    if (last == this) last = nullptr;
  }
  static inline Linked *last = nullptr;
  Linked *next = nullptr;
};

/* A reference to the value of a temporary handle would be invalid. */
static_assert(!std::is_reference<decltype(std::declval<nb::handle>().any())>::value, "any() of a temporary");

FFI_HPY_MODULE(bound_objects, m) {
  nb::class_<Linked>(m, "Linked")
      .def(nb::init<>())
      .def_static(
          "last", [] { return Linked::last; }, nb::rv_policy::reference)
      .def("link", [](Linked &self, Linked *next) { self.next = next; })
      .def(
          "next", [](Linked &self) { return self.next; }, nb::rv_policy::reference)
      .def(
          "same", [](Linked &self) -> Linked & { return self; }, nb::rv_policy::reference)
      .def("show", [](Linked &self, const nb::callable &f) { return f(nb::cast(&self, nb::rv_policy::reference)); });
  nb::class_<Moved>(m, "Moved")
      .def(nb::init<>())
      .def_rw("items", &Moved::items)
      .def_prop_ro_static("n_copies", [](nb::handle) { return Counted::n_copies; });
  nb::class_<Counted>(m, "Counted").def(nb::init<>());
  nb::class_<Shelf>(m, "Shelf")
      .def(nb::init<>())
      .def_rw("left", &Shelf::left, "On the left.")
      .def_prop_rw(
          "right", [](const Shelf &shelf) { return shelf.right; },
          [](Shelf &shelf, nb::object value) { shelf.right = std::move(value); });
  nb::class_<Box>(m, "Box")
      .def(nb::init<>())
      .def_rw("value", &Box::value)
      .def_prop_ro("me", [](nb::handle self) { return self; })
      .def("hold", [](Box &box, nb::list items) {
        box.value = static_cast<int>(items.size());
        return items;
      });

  /* parameters */
  m.def("rest", [](int a, nb::args args, nb::kwargs kwargs) { return nb::make_tuple(a, args, kwargs); });
  m.def("by_name", [](int i, int j) { return nb::make_tuple(i, j); }, "i"_a, nb::kw_only(), "j"_a = 5);
  m.def(
      "all_kinds", [](int i, nb::args args, int z, nb::kwargs kwargs) { return nb::make_tuple(i, args, z, kwargs); },
      "i"_a, "args"_a, "z"_a, "kwargs"_a);
  m.def("named", [](int a, int b) { return 10 * a + b; }, "a"_a, "b"_a);
  m.def("named", [](int x, const char *b) { return nb::make_tuple(x, b); }, "x"_a, "b"_a = "-");
  m.def("described", [](int x) { return x; }, nb::sig("def described(x: Literal[1]) -> Literal[1]"), "Documented.");
  m.def("default_list", [](nb::list items) { return items; }, "items"_a = nb::list());
  m.def("shown", [](int x) { return x; }, nb::arg("x").sig("ONE") = 1);

  /* objects */
  m.def("same", [](nb::object o) { return o; });
  m.def("same_handle", [](nb::handle h) { return h; });
  m.def("is_same", [](nb::handle a, nb::handle b) { return a.is(b); });
  m.def("items_of", [](nb::iterable in) {
    nb::list made;
    for (nb::handle each : in) made.append(each);
    return made;
  });
  m.def("pairs_of", [](nb::dict in) {
    nb::list made;
    for (auto [key, value] : in) made.append(nb::make_tuple(key, value));
    return made;
  });
  m.def("sum", [](nb::list items) {
    int sum = 0;
    for (size_t i = 0; i < items.size(); ++i) sum += nb::cast<int>(items[i]);
    items.append(sum);
    return sum;
  });
  m.def("container", [] {
    nb::dict made;
    made["a"] = nb::int_(0);
    made["a"] += nb::int_(5);
    nb::list inner;
    inner.append(1);
    inner[0] += nb::int_(2);
    made["inner"] = inner;
    nb::set letters;
    letters.add("x");
    made["has_x"] = letters.contains("x");
    made["has_key"] = made.contains("inner");
    return made;
  });
  m.def("vector_of_objects", [](std::vector<nb::object> v) { return v; });
  m.def("maybe_list", [](std::optional<nb::list> v) { return v; });
  m.def("attributes", [](nb::object o) {
    o.attr("x") = 1;
    o.attr("x") += nb::int_(1);
    nb::delattr(o, "gone");
    return nb::make_tuple(o.attr("x"), nb::hasattr(o, "gone"), nb::getattr(o, "gone", nb::none()));
  });
  m.def("call", [](nb::callable f, nb::args args, nb::kwargs kwargs) { return f(*args, "x"_a = 5, **kwargs); });
  m.def("make_box", [] { return nb::module_::import_("bound_objects").attr("Box")(); });
  m.def("operators", [](nb::object a, nb::object b) {
    return nb::make_tuple(a + b, a - b, a * b, a / b, a.floor_div(b), -a, a < b, a.equal(b), a.not_equal(b));
  });
  m.def("numbers", [](nb::int_ i, nb::float_ f) {
    return nb::make_tuple(i + nb::int_(1), static_cast<double>(f) * 2, nb::int_(2.9), nb::float_(nb::str("1.5")));
  });
  m.def("strings", [](nb::str s, nb::bytes b) {
    return nb::make_tuple(nb::str("{}-{}").format(s, 3), nb::bytes(b.c_str(), b.size()), "text"_s,
                          nb::str(nb::int_(7)));
  });
  m.def("slice", [](nb::slice s) {
    auto [start, stop, step, length] = s.compute(10);
    return nb::make_tuple(start, stop, step, length, nb::slice(1, 5, 2));
  });
  m.def("kinds", [](nb::handle h) {
    return nb::make_tuple(nb::isinstance<nb::list>(h), nb::isinstance<nb::str>(h), nb::isinstance<nb::int_>(h),
                          nb::isinstance<nb::callable>(h), nb::isinstance<Box>(h), nb::isinstance<int>(h));
  });
  m.def("typed", [](nb::handle_t<Box> box, nb::type_object_t<Box> cls) { return nb::make_tuple(box, cls); });
  m.def("any_tuple", [](nb::typed<nb::tuple, int, nb::ellipsis> t) { return nb::len(t); });
  m.def("print", [](nb::object o) { nb::print(o, nb::str("!")); });
  m.def("capsule", [] {
    static int number = 3;
    nb::capsule made(&number, "number");
    return *static_cast<int *>(made.data("number")) == 3 && made.data() == &number;
  });
  m.def("null_capsule", [] { return nb::capsule(nullptr, [](void *) noexcept {}); });
  m.def("build", [](nb::list items, size_t n) {
    nb::tuple_builder built(n);
    nb::list_builder others(1);
    for (nb::handle item : items) built.put(item);
    bool has_put = others.put(n);
    return nb::make_tuple(has_put, built.commit(), others.commit());
  });
  m.def("build_twice", [] {
    nb::list_builder built(0);
    built.commit();
    return built.commit();
  });
  m.def("put_unbound", [] {
    struct Unbound {};
    nb::list_builder built(1);
    return built.put(Unbound());
  });
  m.def(
      "attribute_or",
      [](nb::object o, const char *name, nb::object otherwise) { return nb::getattr(o, name, otherwise); }, nb::arg(),
      nb::arg(), nb::arg().none());
  m.def("text", [](nb::object o) { return std::string(nb::cast<const char *>(o)); });
  m.def("set_item_after_its_key_ends", [](nb::dict d) {
    nb::object key = nb::str("the first of the texts");
    auto item = d[key];
    key = nb::str("the other one of these");
    std::vector<nb::object> others(20, nb::none()); /* in the memory of the first key, if that is free */
    for (nb::object &other : others) other = nb::str("the last of many texts");
    item = 1;
  });
  m.def("text_of_item", [](nb::list items) { return std::string(nb::cast<const char *>(items[0])); });
  m.def("uint64", [](uint64_t value) { return value; });
  m.def("falls_back", [](double) { return "float"; });
  m.def("falls_back", [](nb::fallback) { return "fallback"; });
  m.def("variant", [](std::variant<std::monostate, int, std::string> value) { return value; });
  m.def("variants", [](std::vector<std::variant<std::monostate, std::vector<int>>> value) { return value; });
  m.def("call_nothing", [] { return nb::object()(1); });
  m.def("pass_nothing", [](nb::object f) { return f(nb::object()); });
  m.def("acquires", [] { return nb::gil_scoped_acquire().is_valid(); });
  m.def("with_decorator", [](int x) { return x; }, nb::sig("@final\ndef with_decorator(x: Literal[1], /) -> int"));
  m.def("sum_of", [](std::vector<int>) { return "list"; });
  m.def("sum_of", [](double) { return "float"; });
  m.def("weak", [](nb::object o) { return nb::weakref(o)().is(o); });
  m.attr("function") = nb::cpp_function([](int x) { return x + 1; }, "x"_a = 1);

  m.def("evaluate", [](nb::str code) { return nb::eval(code); });
  m.def("execute", [] {
    nb::dict local;
    local["f"] = nb::cpp_function([] { return 42; });
    nb::exec(R"(
      if f() == 42:
          found = f() + 1
    )",
             nb::dict(), local);
    return nb::object(local["found"]);
  });
  m.def("variables", [] { return nb::globals(); });

  /* conversions */
  m.def("warmer", [](Celsius c) { return Celsius{c.degrees + 1}; });
  m.def("cast_int", [](nb::handle h) { return nb::cast<int>(h); });
  m.def("try_int", [](nb::handle h) {
    int value = -1;
    bool fits = nb::try_cast(h, value);
    return nb::make_tuple(fits, value);
  });

  /* errors */
  m.def("caught", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      return nb::make_tuple(error.what(), error.value(), error.type(), error.matches(nb::builtins()["ValueError"]));
    }
    return nb::make_tuple();
  });
  m.def("text_of_error", [](const char *kind) {
    nb::set_error(kind, "%s", "");
    return std::string(nb::python_error().what());
  });
  m.def("passed_on", [](nb::callable f) { f(); });
  m.def("empty_call", [] { return nb::object()(1); });
  m.def("ignored", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      error.discard_as_unraisable("a test");
    }
  });
}
