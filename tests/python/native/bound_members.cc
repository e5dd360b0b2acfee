/* A library that is bound with ffi_hpy/bind.h: the module `bound_members`. Static properties, operators, constructors,
 * states, and classes in classes. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>

#include <map>
#include <memory>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

struct Settings {
  static inline int level = 23;
  static inline std::string name = "first";
};
struct MoreSettings : Settings {};

struct Number {
  int i;
  Number operator+(Number other) const { return {i + other.i}; }
  Number operator+(int other) const { return {i + other}; }
  Number operator-(float other) const { return {int(float(i) - other)}; }
  Number operator-() const { return {-i}; }
  bool operator!() const { return i == 0; }
  bool operator==(Number other) const { return i == other.i; }
  bool operator<(Number other) const { return i < other.i; }
  Number &operator+=(Number other) {
    i += other.i;
    return *this;
  }
  friend Number operator*(int factor, Number n) { return {factor * n.i}; }
  friend Number abs(Number n) { return {n.i < 0 ? -n.i : n.i}; }
};

struct Overloaded {
  static int kind(int) { return 1; }
  static int kind(float) { return 2; }
  std::string get(int) { return "int"; }
  std::string get(int) const { return "const int"; }
  std::string get(const std::string &) const { return "str"; }
};

struct Unique {
  int value;
  int n_made = 0;
  explicit Unique(int value) : value(value) {}
  static std::shared_ptr<Unique> make(int value) {
    static std::map<int, std::weak_ptr<Unique>> all;
    auto known = all[value].lock();
    if (known == nullptr) all[value] = known = std::make_shared<Unique>(value);
    ++known->n_made;
    return known;
  }
};

struct State {
  int x;
  std::string y;
  static inline int n_alive = 0;
  State(int x, std::string y) : x(x), y(std::move(y)) {
    if (x < 0) throw std::invalid_argument("a negative number");
    ++n_alive;
  }
  State(const State &) = delete;
  ~State() { --n_alive; }
};

struct Outer {
  struct Inner {};
};
struct Final {};
struct Kept {
  static inline int n_destroyed = 0;
  ~Kept() { ++n_destroyed; }
};
struct Level0 {
  int zero() const { return 0; }
};
struct Level1 : Level0 {
  int one() const { return 1; }
};
struct Level2 : Level1 {
  int two() const { return 2; }
};

struct Root {
  virtual ~Root() = default;
  int root = 1;
};
struct Left : virtual Root {
  int left = 2;
};
struct Right : virtual Root {};
struct Diamond : Left, Right {
  int diamond = 3;
};

struct Source {
  int n;
};
struct Target {
  int n;
  explicit Target(Source source) : n(source.n + 10) {}
  explicit Target(int n) : n(n + 100) {}
};

/* Classes with as many members as a program wants. */
template <int I> struct Many {
  int value = 0;
};
template <int I> void define_many(nb::handle scope, int n_methods, int n_properties) {
  nb::class_<Many<I>> cls(scope, ("Many" + std::to_string(I)).c_str());
  cls.def(nb::init<>());
  for (int i = 0; i < n_methods; ++i) {
    cls.def(("method" + std::to_string(i)).c_str(), [](Many<I> &self, int by) { return self.value + by; }, "by"_a);
  }
  for (int i = 0; i < n_properties; ++i) cls.def_rw(("value" + std::to_string(i)).c_str(), &Many<I>::value);
}
constexpr void (*DEFINE_MANY[])(nb::handle, int, int) = {define_many<0>, define_many<1>, define_many<2>, define_many<3>,
                                                         define_many<4>, define_many<5>, define_many<6>, define_many<7>,
                                                         define_many<8>, define_many<9>};

struct Adds : nb::def_visitor<Adds> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    cl.def("visited", [](const Level2 &) { return "yes"; }, extra...);
  }
};

/* Has Python's operators and protocols by their names. */
struct Protocol {
  explicit Protocol(int value) : value(value) {}
  int value;
};

} // namespace
template <> struct std::hash<Number> {
  size_t operator()(const Number &n) const { return static_cast<size_t>(n.i + 1000); }
};

FFI_HPY_MODULE(bound_members, m) {
  nb::class_<Settings>(m, "Settings")
      .def_rw_static("level", &Settings::level, "How loud.")
      .def_ro_static("name", &Settings::name)
      .def_prop_ro_static("owner", [](nb::handle cls) { return cls.attr("__name__"); })
      .def_prop_rw_static(
          "doubled", [](nb::handle) { return 2 * Settings::level; },
          [](nb::handle, int value) { Settings::level = value / 2; })
      .def_static("get", [] { return Settings::level; });
  nb::class_<MoreSettings, Settings>(m, "MoreSettings").def_prop_ro_static("owner", [](nb::handle) { return "more"; });

  m.def("define_many", [](nb::handle scope, size_t number, int n_methods, int n_properties) {
    DEFINE_MANY[number](scope, n_methods, n_properties);
  });

  m.def("of_operands", [](int left, int right) { return left + right; }, nb::is_operator());
  m.def("of_names", [](int left, int right) { return left + right; }, "left"_a, "right"_a = 2, nb::is_operator());
  nb::class_<Protocol>(m, "Protocol")
      .def(nb::init<int>())
      .def_ro("value", &Protocol::value)
      .def("__radd__", [](const Protocol &self, int left) { return left + self.value; })
      .def("__rsub__", [](const Protocol &self, int left) { return left - self.value; })
      .def(
          "__ior__",
          [](Protocol &self, int right) -> Protocol & {
            self.value |= right;
            return self;
          },
          nb::is_operator(), nb::rv_policy::none)
      .def(
          "__le__", [](const Protocol &self, int right) { return self.value <= right; }, nb::is_operator())
      .def(
          "__eq__", [](const Protocol &self, const Protocol &right) { return self.value == right.value; },
          nb::is_operator())
      .def(
          "combined", [](const Protocol &self, int right) { return self.value + right; }, nb::is_operator())
      .def("combined", [](const Protocol &, const std::string &right) { return right + right; })
      .def(
          "added", [](const Protocol &self, int right) { return self.value + right; }, nb::is_operator())
      .def_static(
          "doubled", [](int value) { return 2 * value; }, nb::is_operator())
      .def("__bool__", [](const Protocol &self) { return self.value != 0; })
      .def("__index__", [](const Protocol &self) { return self.value; })
      .def("__float__", [](const Protocol &self) { return self.value + 0.5; })
      .def("__contains__", [](const Protocol &self, int item) { return item < self.value; })
      .def("__iter__", [](const Protocol &self) { return nb::iter(nb::make_tuple(self.value, 1)); })
      .def("__call__", [](const Protocol &self, int x) { return self.value * x; })
      .def(
          "__enter__", [](Protocol &self) -> Protocol & { return self; }, nb::rv_policy::none)
      .def("__exit__", [](Protocol &self, const nb::args &) { return self.value != 0; })
      .def("__await__", [](const Protocol &) { return nb::iter(nb::make_tuple()); });
  nb::class_<Number>(m, "Number")
      .def(nb::init<int>())
      .def_ro("i", &Number::i)
      .def(nb::self + nb::self)
      .def(nb::self + int())
      .def(nb::self - float())
      .def(int() * nb::self)
      .def(nb::self += nb::self)
      .def(-nb::self)
      .def(!nb::self)
      .def(nb::self == nb::self)
      .def(nb::self < nb::self)
      .def(nb::hash(nb::self))
      .def(nb::abs(nb::self))
      .def("__repr__", [](const Number &n) { return std::to_string(n.i); });

  nb::class_<Overloaded>(m, "Overloaded")
      .def(nb::init<>())
      .def_static("kind", nb::overload_cast<int>(&Overloaded::kind))
      .def_static("kind", nb::overload_cast<float>(&Overloaded::kind))
      .def("get", nb::overload_cast<int>(&Overloaded::get))
      .def("get", nb::overload_cast<const std::string &>(&Overloaded::get, nb::const_))
      .def("get_const", nb::overload_cast<int>(&Overloaded::get, nb::const_));

  nb::class_<Unique>(m, "Unique")
      .def(nb::new_(&Unique::make), "value"_a)
      .def(nb::new_([](const std::string &text) { return Unique::make(std::stoi(text)); }), "text"_a)
      .def_ro("value", &Unique::value)
      .def_ro("n_made", &Unique::n_made);

  nb::class_<State>(m, "State")
      .def(
          "__init__", [](State *self, int x, std::string y) { new (self) State(x, std::move(y)); }, "x"_a,
          "y"_a = "why")
      .def(nb::init<int, std::string>())
      .def_ro("x", &State::x)
      .def_ro("y", &State::y)
      .def_static("alive", [] { return State::n_alive; })
      .def("__getstate__", [](const State &self) { return std::make_pair(self.x, self.y); })
      .def("__setstate__",
           [](State &self, const std::pair<int, std::string> &state) { new (&self) State(state.first, state.second); });

  auto outer = nb::class_<Outer>(m, "Outer").def(nb::init<>());
  nb::class_<Outer::Inner>(outer, "Inner").def(nb::init<>()).def("make", [](const Outer::Inner &) { return Outer(); });
  nb::class_<Final>(m, "Final", nb::is_final()).def(nb::init<>());
  nb::class_<Kept>(m, "Kept", nb::never_destruct()).def(nb::init<>()).def_static("destroyed", [] {
    return Kept::n_destroyed;
  });

  auto zero = nb::class_<Level0>(m, "Level0").def(nb::init<>()).def("zero", &Level0::zero);
  nb::class_<Level1>(m, "Level1", zero).def(nb::init<>()).def("one", &Level1::one);
  nb::class_<Level2, Level1>(m, "Level2")
      .def(nb::init<>())
      .def("two", &Level2::two)
      .def("zero_of_two", &Level2::zero)
      .def(Adds(), "Documented.");

  nb::class_<Root>(m, "Root").def(nb::init<>()).def_rw("root", &Root::root);
  nb::class_<Left, Root>(m, "Left").def(nb::init<>()).def_rw("left", &Left::left);
  nb::class_<Diamond, Left>(m, "Diamond").def(nb::init<>()).def_rw("diamond", &Diamond::diamond);
  m.def("root_of", [](const Root &object) { return object.root; });
  m.def("make_diamond", []() -> std::shared_ptr<Root> { return std::make_shared<Diamond>(); });

  nb::class_<Source>(m, "Source").def(nb::init<int>());
  nb::class_<Target>(m, "Target").def(nb::init_implicit<int>()).def(nb::init<Source>()).def_ro("n", &Target::n);
  nb::implicitly_convertible<Source, Target>();
  m.def("shared_target", [](std::shared_ptr<Target> target) { return target->n; });
  m.def("target", [](const Target &target) { return target.n; });
}
