/* A library that is bound with ffi_hpy/bind.h: the module `bound_vocabulary`. Objects by hand, classes that are frozen,
 * generic or bound twice, enums of strings, further arguments of properties, warnings. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

int n_alive = 0;

struct Value {
  int n = 3;
  explicit Value(int i) : n(i) { ++n_alive; }
  Value(const Value &other) : n(other.n) { ++n_alive; }
  Value(Value &&other) noexcept : n(std::exchange(other.n, 0)) { ++n_alive; }
  Value &operator=(const Value &) = default;
  ~Value() { --n_alive; }
};
struct Pair {
  Value first{1}, second{2};
};
struct Frozen {};
struct FrozenToo : Frozen {};
struct Named {
  int number;
  explicit Named(int n) : number(n) {}
};
struct Unbound {};
struct Generic {};
struct Converted : Value {
  explicit Converted(const Value &from) : Value(from.n + 1) {}
};

struct Number {
  int n;
  explicit Number(int i) : n(i) {}
  int operator+(Number other) const { return n + other.n; }
  int operator-() const { return -n; }
};

struct Shared : std::enable_shared_from_this<Shared> {
  long count() const { return weak_from_this().use_count(); }
};
std::shared_ptr<Shared> shared;

struct Speaker {
  virtual ~Speaker() = default;
  virtual std::string speak() const { return "..."; }
};
class HiddenSpeaker : Speaker { // the base and the trampoline are private
  FFI_HPY_TRAMPOLINE(Speaker);
  std::string speak() const override { FFI_HPY_OVERRIDE(speak); }
};

/* The destructor cannot be compiled here. */
class Endless {
public:
  Endless(const Endless &) = delete;
  static Endless &get();

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
Endless &Endless::get() {
  static char room[sizeof(Endless)];
  return *reinterpret_cast<Endless *>(room);
}

enum class Mode { read, write };
enum class Color { red = 1, green = 2, blue = 4 };
enum class Access { read = 1, write = 2 };

/* Lives longer than Python. */
struct Last {
  ~Last() {
    if (std::getenv("SHOW_THE_END") != nullptr) std::printf("%d\n", int(nb::is_alive()));
  }
} last;

void destruct_and_move(nb::handle object, nb::handle from) {
  nb::inst_destruct(object);
  if (nb::inst_state(object) != std::make_pair(false, false)) nb::raise("inst_destruct");
  nb::inst_move(object, from);
}

} // namespace

FFI_HPY_MODULE(bound_vocabulary, m) {
  nb::class_<Value>(m, "Value", nb::pooled(4)).def(nb::init<int>()).def_rw("n", &Value::n);
  nb::class_<Pair>(m, "Pair").def(nb::init<>()).def_rw("first", &Pair::first);
  m.def("alive", [] { return n_alive; });

  /* objects by hand */
  m.def("reference",
        [](Pair &pair, nb::handle parent) { return nb::inst_reference(nb::type<Value>(), &pair.second, parent); });
  m.def("take", [] { return nb::inst_take_ownership(nb::type<Value>(), new Value(7)); });
  m.def("state", [](nb::handle value) {
    auto [ready, destruct] = nb::inst_state(value);
    return nb::make_tuple(ready, destruct, nb::inst_name(value));
  });
  m.def("destruct", &nb::inst_destruct);
  m.def("destruct_and_move", &destruct_and_move);
  m.def("copy", &nb::inst_replace_copy);
  m.def("set_state", &nb::inst_set_state);
  m.def("zero", [](nb::handle value) { nb::inst_zero(value); });
  m.def("attributes", [](nb::handle value) {
    nb::dict found = nb::inst_dict(value);
    return found.is_valid() ? nb::object(found) : nb::object(nb::none());
  });
  m.def("class_dict", &nb::type_dict);
  m.def("set_in_class_dict", [](nb::handle cls, const char *name, nb::handle value) {
    nb::type_dict(cls)[name] = value;
    nb::dict more;
    more[nb::str("more")] = value;
    nb::type_dict(cls).update(more);
  });
  m.def("entry", [](nb::handle cls, const char *name) {
    nb::object found = nb::type_lookup(cls, name);
    return found.is_valid() ? found : nb::object(nb::none());
  });

  /* classes */
  nb::class_<Named>(m, "Named").def(nb::init<int>(), nb::kw_only(), "number"_a).def_ro("number", &Named::number);
  nb::class_<Frozen>(m, "Frozen").def(nb::init<>()).freeze();
  nb::class_<FrozenToo, Frozen>(m, "FrozenToo").def(nb::init<>());
  m.def("freeze", [](nb::handle cls) { return nb::type_freeze(cls); });
  nb::class_<Generic>(m, "Generic", nb::is_generic());
  nb::class_<Endless>(m, "Endless", nb::never_destruct());
  m.def("endless", &Endless::get, nb::rv_policy::reference_v);
  nb::class_<Speaker, HiddenSpeaker>(m, "Speaker").def(nb::init<>()).def("speak", &Speaker::speak);
  m.def("speak", [](const Speaker &speaker) { return speaker.speak(); });
  nb::class_<Number>(m, "Number")
      .def(nb::init<int>())
      .def_ro("n", &Number::n)
      .def_cast(nb::self + nb::self)
      .def_cast(-nb::self);
  nb::class_<Converted, Value>(m, "Converted").def(nb::init_implicit<const Value &>());
  m.def("converted", [](Converted &from) { return new Value(from.n + 100); }, nb::keep_alive<0, 1>());
  m.def("bind_again", [](nb::handle scope) {
    nb::class_<Value>(scope, "Again").def(nb::init<int>()).def_rw("n", &Value::n).def("twice", [](const Value &value) {
      return 2 * value.n;
    });
  });
  m.def("cast_converted", [](nb::handle from) {
    Converted *pointer = nullptr;
    std::optional<Converted *> maybe;
    bool is_pointer = nb::try_cast(from, pointer), is_maybe = nb::try_cast(from, maybe);
    return nb::make_tuple(nb::cast<Converted>(from).n, is_pointer, is_maybe);
  });
  m.def("warn_of_conversions", &nb::set_implicit_cast_warnings);

  /* shared values */
  nb::class_<Shared>(m, "Shared").def("count", &Shared::count);
  m.def("share", [] { shared = std::make_shared<Shared>(); });
  m.def("shared", [] { return shared.get(); });
  m.def("unshare", [] { shared.reset(); });

  /* properties */
  struct Box {
    std::shared_ptr<Value> value;
    int n = 0;
  };
  nb::class_<Box>(m, "Box")
      .def(nb::init<>())
      .def_rw("value", &Box::value, nb::arg().none())
      .def_prop_rw(
          "n", [](const Box &box) { return box.n; }, [](Box &box, int n) { box.n = n; }, nb::for_getter("The number."),
          nb::for_setter(nb::arg("number").noconvert()));

  /* enums */
  nb::enum_<Mode>(m, "Mode", nb::is_str())
      .str_value("read", Mode::read, "r")
      .str_value("write", Mode::write, "w", "Changes the file.");
  m.def("mode", [](Mode mode) { return static_cast<int>(mode); });
  m.def("exact_mode", [](Mode mode) { return static_cast<int>(mode); }, nb::arg("mode").noconvert() = Mode::write);
  m.def("exact_modes", [](const std::vector<Mode> &modes) { return modes.size(); }, nb::arg().noconvert());
  m.def("exact_float", [](double x) { return x; }, nb::arg().noconvert());
  m.def("to_mode", [](int number) { return static_cast<Mode>(number); });
  nb::enum_<Color>(m, "Color").value("red", Color::red).value("green", Color::green).value("blue", Color::blue);
  m.def("color", [](Color color) { return static_cast<int>(color); });
  m.def("exact_color", [](Color color) { return static_cast<int>(color); }, nb::arg().noconvert());
  nb::enum_<Access>(m, "Access", nb::is_flag()).value("read", Access::read).value("write", Access::write);
  m.def("access", [](Access access) { return static_cast<int>(access); });

  /* errors */
  m.def("cast_unbound", [](bool catches) -> nb::object {
    try {
      return nb::cast(Unbound());
    } catch (const nb::cast_error &error) {
      if (catches) return nb::str(error.what());
      throw;
    }
  });
  m.def("sum_of_map", [](const std::map<std::string, int> &table) {
    int sum = 0;
    for (const auto &[key, number] : table) sum += number;
    return sum;
  });
  m.def("text_of_error", [](nb::callable f) {
    try {
      f();
    } catch (nb::python_error &error) {
      return std::string(error.what());
    }
    return std::string();
  });
  m.def("error_in_scope", [](nb::callable f) {
    nb::set_error("KeyError", "kept");
    {
      nb::error_scope kept;
      f();
    }
    nb::raise_python_error();
  });
  m.def("is_alive", &nb::is_alive);
}
