/* A library that is bound with ffi_hpy/bind.h: the module `bound_extras`. Exceptions, methods of enums, and objects by
 * hand. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>

#include <memory>

namespace nb = ffi_hpy;

namespace {

struct First : std::exception {
  const char *what() const noexcept override { return "first"; }
};
struct Second : std::exception {
  const char *what() const noexcept override { return "second"; }
};
struct Third : std::exception {
  const char *what() const noexcept override { return "third"; }
};

enum class Size : uint64_t { small = 1, all = UINT64_MAX };
enum class Sign : int8_t { minus = -1, plus = 1 };

struct Value {
  int n = 5;
  static inline int n_alive = 0;
  Value() { ++n_alive; }
  explicit Value(int n) : n(n) { ++n_alive; }
  Value(const Value &other) : n(other.n) { ++n_alive; }
  Value(Value &&other) : n(std::exchange(other.n, 0)) { ++n_alive; }
  ~Value() { --n_alive; }
};
struct Plain {
  int64_t a, b;
};
struct Notes {
  int n = 3;
};

/* The method returns its own kind. */
struct Pet {
  bool is_cat = false;
};
struct Cat : Pet {};

/* Functions name these before they are bound; Never is not bound at all. */
template <typename T> struct Later {
  T next{};
};
enum class LaterKind { one, two };
struct Never {};

struct Shared : std::enable_shared_from_this<Shared> {
  std::shared_ptr<Shared> other;
};

nb::object by_hand() {
  nb::handle cls = nb::type<Value>();
  nb::object first = nb::inst_alloc(cls);
  if (!nb::inst_check(first) || nb::inst_ready(first)) nb::raise("inst_alloc");
  new (nb::inst_ptr<Value>(first)) Value(123);
  nb::inst_mark_ready(first);
  nb::object copy = nb::inst_alloc(cls), moved = nb::inst_alloc(cls), dropped = nb::inst_alloc(cls);
  nb::inst_copy(copy, first);
  nb::inst_move(moved, first);
  if (nb::inst_state(moved) != std::make_pair(true, true)) nb::raise("inst_state");
  return nb::make_tuple(first, copy, moved);
}

} // namespace

template <> struct ffi_hpy::detail::type_hook<Pet> {
  static const std::type_info *get(const Pet *pet) { return pet->is_cat ? &typeid(Cat) : &typeid(Pet); }
};

FFI_HPY_MODULE(bound_extras, m) {
  nb::register_exception_translator(
      [](const std::exception_ptr &thrown, void *payload) {
        try {
          std::rethrow_exception(thrown);
        } catch (const First &error) {
          nb::set_error("IndexError", "%s %s", error.what(), static_cast<const char *>(payload));
        } catch (const Second &error) {
          throw nb::key_error(error.what());
        }
      },
      const_cast<char *>("payload"));
  m.def("takes_later", [](Later<int> &a, LaterKind, Later<char> *) { return a; });
  m.def("takes_never", [](Never &) {});
  nb::class_<Notes>(m, "Notes").def(nb::init<>()).def_prop_ro("later", [](Notes &) { return Later<int>{}; });
  nb::module_ inner = m.def_submodule("inner");
  nb::class_<Later<int>>(inner, "LaterInt").def(nb::init<>()).def_rw("next", &Later<int>::next);
  nb::class_<Later<char>>(m, "LaterText");
  nb::enum_<LaterKind>(inner, "Kind").value("one", LaterKind::one).value("two", LaterKind::two);
  nb::exception<Third>(m, "Third", m.import_("builtins").attr("LookupError"));
  m.def("throw", [](int which) {
    if (which == 1) throw First();
    if (which == 2) throw Second();
    if (which == 3) throw Third();
    if (which == 4) nb::raise("number %d of %s", which, "many");
    if (which == 5) nb::raise_type_error("number %d", which);
    nb::set_error("OSError", "number %d", which);
    nb::raise_python_error();
  });
  m.def("from", [](nb::callable f, nb::object cls) {
    try {
      f();
    } catch (nb::python_error &error) {
      if (cls.is_none()) nb::raise_from(error, "ValueError", "call %d failed", 1);
      nb::raise_from(error, cls, "call %d failed", 2);
    }
  });
  m.def("chain", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      error.restore();
      nb::chain_error("TypeError", "chained %s", "twice");
      nb::chain_error(nb::builtins()["RuntimeError"], "again");
      nb::raise_python_error();
    }
  });
  m.def("describe", [](nb::callable f) -> nb::object {
    try {
      return f();
    } catch (nb::python_error &error) {
      bool is_lookup = error.matches(nb::builtins()["LookupError"]);
      return nb::make_tuple(error.type(), error.value(), error.traceback().is_none(), is_lookup);
    }
  });

  nb::enum_<Size>(m, "Size").value("small", Size::small).value("all", Size::all);
  auto sign = nb::enum_<Sign>(m, "Sign").value("minus", Sign::minus).value("plus", Sign::plus);
  m.def("flip", [](Sign s) { return s == Sign::plus ? Sign::minus : Sign::plus; }, nb::arg("sign") = Sign::plus);
  sign.def(
          "times", [](Sign sign, int x) { return static_cast<int>(sign) * x; }, nb::arg("sign"), nb::arg("x") = 2)
      .def_static("of", [](int x) { return x < 0 ? Sign::minus : Sign::plus; })
      .def_prop_ro("negated", [](Sign sign) { return static_cast<Sign>(-static_cast<int>(sign)); });
  m.def("size", [](Size size) { return static_cast<uint64_t>(size); });
  m.def("to_size", [](uint64_t size) { return static_cast<Size>(size); });

  nb::class_<Value>(m, "Value", nb::supplement<Notes>()).def(nb::init<>()).def_ro("n", &Value::n);
  nb::class_<Plain>(m, "Plain").def_ro("a", &Plain::a).def_ro("b", &Plain::b);
  nb::type_supplement<Notes>(nb::type<Value>()).n = 8;
  nb::class_<Pet>(m, "Pet");
  nb::class_<Cat, Pet>(m, "Cat");
  m.def("pet", [](bool is_cat) {
    Pet *pet = is_cat ? new Cat() : new Pet();
    pet->is_cat = is_cat;
    return pet;
  });
  nb::class_<Shared>(m, "Shared")
      .def(nb::init<>())
      .def("is_shared", [](Shared &self) { return !self.weak_from_this().expired(); })
      .def("share", [](std::shared_ptr<Shared> self, std::shared_ptr<const Shared> again) {
        return self == again && !self.owner_before(again) && !again.owner_before(self);
      });
  m.def("n_of", [](const Value &value) { return value.n; });
  m.def("fill", [](nb::handle_t<Value> value) {
    if (nb::inst_ready(value)) nb::raise_type_error("it has a value");
    new (nb::inst_ptr<Value>(value)) Value(9);
    nb::inst_mark_ready(value);
  });
  m.def("alive", [] { return Value::n_alive; });
  m.def("by_hand", &by_hand);
  m.def("zero", [] { return nb::inst_alloc_zero(nb::type<Plain>()); });
  m.def("mark_twice", [](nb::object value) { nb::inst_mark_ready(value); });
  m.def("about", [](nb::handle type) {
    return nb::make_tuple(nb::type_check(type), nb::type_size(type), nb::type_align(type), nb::type_name(type),
                          nb::type_info(type) == typeid(Value), nb::type_supplement<Notes>(type).n);
  });
  m.def("is_bound_class", [](nb::handle value) { return nb::type_check(value); });
  m.def("is_known", [](Value &value) { return nb::find(&value).is_valid(); });
  m.def("is_other_known", [] {
    Value other;
    return nb::find(&other).is_valid();
  });
  m.def("is_object", [](nb::handle value) { return nb::inst_check(value); });
}
