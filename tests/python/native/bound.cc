/* A library that is bound with ffi_hpy/bind.h: the module `bound`. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/deque.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/list.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/unordered_map.h>
#include <ffi_hpy/stl/unordered_set.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <variant>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

std::atomic<int> n_alive{0};

struct Counted {
  Counted() { ++n_alive; }
  Counted(const Counted &) { ++n_alive; }
  ~Counted() { --n_alive; }
};

struct Animal : Counted {
  std::string name;
  explicit Animal(std::string name) : name(std::move(name)) {}
  virtual ~Animal() = default;
  virtual std::string speak() const { return "..."; }
};

struct Dog : Animal {
  int age;
  Dog(std::string name, int age) : Animal(std::move(name)), age(age) {
    if (age < 0) throw std::invalid_argument("a negative age");
  }
  std::string speak() const override { return name + ": woof!"; }
  int get_age() const noexcept { return age; }
  void set_age(int value) {
    if (value < 0) throw std::invalid_argument("a negative age");
    age = value;
  }
};

/* The base of this class is not at the beginning of the object. */
struct Engine {
  virtual ~Engine() = default;
  int power = 90;
};
struct Wheels {
  int n = 4;
  int count() const { return n; }
};
struct Car : Engine, Wheels {};

struct Point {
  double x, y;
};
struct alignas(32) Wide {
  double values[4] = {1, 2, 3, 4};
};
struct Line {
  Point from, to;
};
struct Kennel {
  std::vector<std::shared_ptr<Dog>> dogs;
};
struct Pinned {
  int n = 1;
  Pinned() = default;
  Pinned(const Pinned &) = delete;
};
struct Unbound {};

enum class Color { red = 1, green = 2, blue = 4 };
enum Level { low, high = 10 };
enum class Access { read = 1, write = 2 };
enum class Style : uint8_t { bold = 1, italic = 2, wide = 128 };

struct TooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct BadText : std::invalid_argument {
  using invalid_argument::invalid_argument;
};
struct Broken : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Odd : std::exception {
  const char *what() const noexcept override { return "odd"; }
};

// Returns when `n` threads are inside this function with the same id.
void meet(int id, int n) {
  static std::mutex &mutex = *new std::mutex;
  static std::condition_variable &changed = *new std::condition_variable;
  static std::map<int, int> &arrived = *new std::map<int, int>;
  std::unique_lock<std::mutex> lock(mutex);
  arrived[id] += 1;
  changed.notify_all();
  changed.wait(lock, [&] { return arrived[id] >= n; });
}

Dog rex("rex", 3);
std::shared_ptr<Dog> kept;
std::function<int(int)> callback;

/* Throws an exception that an error is nested in. */
void throw_nested(int which) {
  try {
    throw TooSmall("inner");
  } catch (...) {
    switch (which) {
    case 0: std::throw_with_nested(std::runtime_error("outer"));
    case 1: std::throw_with_nested(std::out_of_range("outer"));
    case 2: std::throw_with_nested(std::system_error(ENOENT, std::generic_category(), "outer"));
    case 3: std::throw_with_nested(TooSmall("outer"));
    case 4: std::throw_with_nested(nb::key_error("outer"));
    case 5: std::throw_with_nested(Broken("outer"));
    }
  }
}

void throw_error(int which) {
  switch (which) {
  case 0: throw std::out_of_range("m");
  case 1: throw std::invalid_argument("m");
  case 2: throw std::domain_error("m");
  case 3: throw std::length_error("m");
  case 4: throw std::range_error("m");
  case 5: throw std::overflow_error("m");
  case 6: throw std::bad_alloc();
  case 7: throw std::bad_cast();
  case 8: throw std::runtime_error("m");
  case 9: throw Odd();
  case 10: throw nb::key_error("m");
  case 11: throw nb::stop_iteration();
  case 12: throw TooSmall("m");
  case 13: throw BadText("m");
  case 14: (void)std::get<int>(std::variant<int, double>(1.5)); break;
  case 15: throw Broken("m");
  case 16: throw std::system_error(ENOENT, std::generic_category(), "m");
  case 17: std::filesystem::rename("/no [where]/a", "/no [where]/\xff"); break;
  case 18:
  case 19: try { which == 18 ? throw TooSmall("inner") : throw_error(18);
    } catch (...) {
      std::throw_with_nested(std::out_of_range("outer"));
    }
    break;
  case -1: break;
  default: throw 1;
  }
}

/* A class whose constructor, methods and properties throw. */
struct Door {
  explicit Door(int which) : which(which) { throw_error(which); }
  int which;
};

} // namespace

FFI_HPY_MODULE(bound, m) {
  m.attr("answer") = 42;
  m.attr("title") = "a title";

  /* functions */
  m.def("nothing", [] {});
  m.def("add", [](int a, int b) { return a + b; }, "Adds numbers.", "a"_a, "b"_a = 1);
  m.def("add", [](const std::string &a, const std::string &b) { return a + b; }, "Joins.", "a"_a, "b"_a = "!");
  m.def(
      "describe", [](double x, bool y, const char *z) { return std::to_string(x) + (y ? "T" : "F") + (z ? z : "-"); },
      "x"_a, "y"_a = true, "z"_a = nullptr);
  m.def("only_int", [](int x, int8_t y) { return x + y; }, nb::arg("x").noconvert(), nb::arg("y") = 0);
  m.def("only_ints", [](const std::vector<int> &x) { return x; }, nb::arg("x").noconvert());
  m.def("only_float", [](double x) { return x; }, nb::arg("x").noconvert());
  m.def("color_beside", [](Color, int y) { return y; });
  m.def("kind", [](int) { return "int"; });
  m.def("kind", [](double) { return "float"; });
  m.def("kind", [](const std::string &) { return "str"; });
  m.def("kind", [](const std::vector<int> &) { return "list"; });
  m.def("kind", [](const Animal &) { return "Animal"; });
  m.def("int8", [](int8_t x) { return x; });
  m.def("uint8", [](uint8_t x) { return x; });
  m.def("uint64", [](uint64_t x) { return x; });
  m.def("int64", [](int64_t x) { return x; });
  m.def("char", [](char c) { return c; });
  m.def("view", [](std::string_view text) { return text.size(); });
  m.def("meet", meet, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "many",
      [](int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int n, int o, int p, int q,
         int r) { return a + b + c + d + e + f + g + h + i + j + k + l + n + o + p + q + r; },
      "a"_a, "b"_a = 1, "c"_a = 1, "d"_a = 1, "e"_a = 1, "f"_a = 1, "g"_a = 1, "h"_a = 1, "i"_a = 1, "j"_a = 1,
      "k"_a = 1, "l"_a = 1, "n"_a = 1, "o"_a = 1, "p"_a = 1, "q"_a = 1, "r"_a = 1);

  /* exceptions */
  m.def("raise", &throw_error);
  m.def("raise_nested", &throw_nested);
  nb::class_<Door>(m, "Door")
      .def(nb::init<int>())
      .def("open", [](Door &, int which) { throw_error(which); })
      .def("__getitem__", [](Door &, int which) { throw_error(which); })
      .def_prop_rw(
          "which", [](Door &self) { throw_error(self.which); }, [](Door &, int which) { throw_error(which); })
      .def_rw("kept", &Door::which);
  nb::exception<TooSmall>(m, "TooSmall", "ValueError");

  /* enums */
  nb::enum_<Color>(m, "Color", "Colors.")
      .value("red", Color::red)
      .value("green", Color::green, "Like grass.")
      .value("blue", Color::blue);
  nb::enum_<Level>(m, "Level", nb::is_arithmetic()).value("low", low).value("high", high).export_values();
  nb::enum_<Access>(m, "Access", nb::is_flag()).value("read", Access::read).value("write", Access::write);
  nb::enum_<Style>(m, "Style", nb::is_arithmetic(), nb::is_flag())
      .value("bold", Style::bold)
      .value("italic", Style::italic)
      .value("wide", Style::wide);
  m.def("next_color", [](Color c) { return c == Color::red ? Color::green : Color::blue; }, "color"_a = Color::red);
  m.def("bad_color", [] { return static_cast<Color>(99); });
  m.def("colors", [](std::vector<Color> c) { return c; });
  m.def("level", [](Level level) { return level; });
  m.def("access", [](Access access) { return access; });
  m.def("style", [](Style style) { return style; });

  /* classes */
  nb::class_<Animal>(m, "Animal", "An animal.")
      .def(nb::init<std::string>(), "Makes an animal.", "name"_a)
      .def_rw("name", &Animal::name, "The name.")
      .def("speak", &Animal::speak);
  nb::class_<Dog, Animal>(m, "Dog")
      .def(nb::init<std::string, int>(), "name"_a, "age"_a = 1)
      .def(nb::init<const Dog &>(), "other"_a)
      .def_prop_rw("age", &Dog::get_age, &Dog::set_age, "In years.")
      .def_prop_ro("double_age", [](const Dog &dog) { return 2 * dog.age; })
      .def_static(
          "puppy", [](std::string name) { return Dog(std::move(name), 0); }, "name"_a)
      .def(
          "older",
          [](Dog &dog, int years) -> Dog & {
            dog.age += years;
            return dog;
          },
          "years"_a = 1, nb::rv_policy::reference)
      .def("is_same", [](const Dog &a, const Animal *b) { return &a == b; })
      .def(
          "__lt__", [](const Dog &a, const Dog &b) { return a.age < b.age; }, nb::is_operator())
      .def(
          "__eq__", [](const Dog &a, const Dog &b) { return a.age == b.age; }, nb::is_operator())
      .def("__hash__", [](const Dog &a) { return a.age; })
      .def(
          "__add__", [](const Dog &a, int years) { return Dog(a.name, a.age + years); }, nb::is_operator())
      .def("__len__", [](const Dog &a) { return a.name.size(); })
      .def("__call__", [](const Dog &a, const std::string &word) { return a.name + " " + word; });
  m.def("n_alive", [] { return n_alive.load(); });
  m.def("greet", [](const Animal &a) { return a.speak(); }, "animal"_a);
  m.def("is_null", [](const Animal *a) { return a == nullptr; }, "animal"_a.none());
  m.def("is_null_by_default", [](const Animal *a) { return a == nullptr; }, "animal"_a = nullptr);
  m.def("is_null_strict", [](const Animal *a) { return a == nullptr; }, "animal"_a);
  m.def("is_null_unnamed", [](const Animal *a) { return a == nullptr; });
  m.def("rex", []() -> Dog & { return rex; }, nb::rv_policy::reference);
  m.def("rex_copy", []() -> const Dog & { return rex; });
  m.def("rex_pointer", []() -> const Dog * { return &rex; }, nb::rv_policy::reference);
  m.def("new_animal", []() -> Animal * { return new Dog("new", 9); });
  m.def("no_animal", []() -> Animal * { return nullptr; });
  m.def("unique_animal", []() -> std::unique_ptr<Animal> { return std::make_unique<Dog>("unique", 5); });
  m.def("shared_dog", [](int age) { return std::make_shared<Dog>("shared", age); });
  m.def("same_shared", [](std::shared_ptr<Dog> dog) { return dog; }, "dog"_a.none());
  m.def("keep", [](std::shared_ptr<Dog> dog) { kept = std::move(dog); }, "dog"_a.none());
  m.def("kept", [] { return kept; });

  nb::class_<Engine>(m, "Engine").def_ro("power", &Engine::power);
  nb::class_<Wheels>(m, "Wheels").def(nb::init<>()).def_rw("n", &Wheels::n).def("count", &Wheels::count);
  nb::class_<Car, Wheels>(m, "Car").def(nb::init<>()).def_prop_ro("power", [](const Car &car) { return car.power; });
  m.def("count_wheels", [](const Wheels &wheels) { return wheels.count(); });
  nb::class_<Point>(m, "Point", nb::dynamic_attr(), nb::is_weak_referenceable())
      .def(nb::init<double, double>(), "x"_a = 0.0, "y"_a = 0.0)
      .def_rw("x", &Point::x)
      .def_rw("y", &Point::y);
  nb::class_<Line>(m, "Line").def(nb::init<Point, Point>()).def_rw("start", &Line::from).def_rw("end", &Line::to);
  nb::class_<Wide>(m, "Wide").def(nb::init<>()).def_prop_ro("is_aligned", [](const Wide &wide) {
    return reinterpret_cast<uintptr_t>(&wide) % 32 == 0;
  });
  nb::class_<Kennel>(m, "Kennel")
      .def(nb::init<>())
      .def_rw("dogs", &Kennel::dogs)
      .def("add", [](Kennel &kennel, std::shared_ptr<Dog> dog) { kennel.dogs.push_back(std::move(dog)); });
  nb::class_<Pinned>(m, "Pinned").def(nb::init<>()).def_ro("n", &Pinned::n);
  m.def("copy_pinned", []() -> Pinned & {
    static Pinned one;
    return one;
  });
  m.def("unbound", [] { return Unbound(); });
  m.def("use_unbound", [](const Unbound &) {});

  /* the standard library */
  m.def(
      "vector",
      [](std::vector<int> v) {
        v.push_back(7);
        return v;
      },
      "v"_a);
  m.def("bools", [](const std::vector<bool> &v) { return v; });
  m.def("tuple", [](const std::tuple<int, std::string> &t) { return std::make_tuple(std::get<1>(t), 2.5); });
  m.def("empty_tuple", [] { return std::tuple<>(); });
  m.def("pair", [](std::pair<int, int> p) { return std::make_pair(p.second, p.first); });
  m.def("map", [](std::map<std::string, std::vector<int>> v) {
    v["new"] = {1};
    return v;
  });
  m.def("float_keys", [](const std::map<float, int> &v) { return v; });
  m.def("hash_map", [](const std::unordered_map<int, double> &v) { return v; });
  m.def("set", [](std::set<int> v) {
    v.insert(9);
    return v;
  });
  m.def("hash_set", [](std::unordered_set<std::string> v) { return v; });
  m.def("optional", [](std::optional<int> v) { return v; }, "v"_a = nullptr);
  m.def("variant", [](std::variant<int, std::string, double, std::monostate> v) { return v; });
  m.def("nested", [](std::deque<std::list<int>> v) { return v; });
  m.def("points", [](std::vector<Point> v) {
    v.push_back(Point{7, 8});
    return v;
  });
  m.def("move_points", [](std::vector<Point *> v) {
    for (Point *p : v) p->x += 1;
  });
  m.def("same_dogs", [](const std::vector<Dog *> &v) { return v; }, nb::rv_policy::reference);
  m.def("set_of_lists", [] { return std::set<std::vector<std::string>>{{"a list that owns memory"}}; });
  m.def("tuple_of_lists", [] { return std::tuple<std::vector<int>, std::map<int, Color>>({1}, {{2, Color::red}}); });
  m.def("counted", [](size_t n) { return std::vector<std::string>(n, "a text of 20 letters"); });
  m.def("give_containers", [](const std::function<std::vector<std::string>(std::vector<int>, std::tuple<int, bool>,
                                                                           std::set<int>, std::map<int, int>)> &f) {
    return f({1, 2}, {3, true}, {4}, {{5, 6}});
  });
  m.def("reverser", []() -> std::function<std::list<int>(std::vector<int>, std::map<int, int>)> {
    return [](std::vector<int> v, std::map<int, int> more) {
      for (const auto &pair : more) v.push_back(pair.second);
      return std::list<int>(v.rbegin(), v.rend());
    };
  });
  m.def("use_reverser", [](const std::function<std::list<int>(std::vector<int>, std::map<int, int>)> &f) {
    return f({1, 2}, {{0, 3}});
  });
  m.def("apply", [](const std::function<int(int)> &f, int x) { return f(x) + 1; });
  m.def("echo_callback", [](std::function<int(int)> f) { return f; });
  m.def("multiplier", [](int k) -> std::function<int(int)> { return [k](int x) { return x * k; }; });
  m.def("set_callback", [](std::function<int(int)> f) { callback = std::move(f); }, "f"_a.none());
  m.def(
      "call_on_thread",
      [](int x) {
        int result = 0;
        std::thread([&] { result = callback(x); }).join();
        return result;
      },
      nb::call_guard<nb::gil_scoped_release>());

  nb::module_ inner = m.def_submodule("inner", "A module inside.");
  inner.def("twice", [](int x) { return 2 * x; });
  nb::class_<Unbound>(inner, "Late");
}
