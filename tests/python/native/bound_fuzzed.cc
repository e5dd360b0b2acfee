/* A library that the fuzzer of the Python API calls: the module `bound_fuzzed`. The module has each feature of
 * ffi_hpy/bind.h that Python reaches, and no function by which Python could damage C++ on its own: values that threads
 * share are locked, and no reference outlives the value that it refers to. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/intrusive/counter.h>
#include <ffi_hpy/intrusive/ref.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/bind_map.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/chrono.h>
#include <ffi_hpy/stl/complex.h>
#include <ffi_hpy/stl/deque.h>
#include <ffi_hpy/stl/filesystem.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/list.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/string_view.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/unordered_map.h>
#include <ffi_hpy/stl/unordered_set.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/stl/wstring.h>
#include <ffi_hpy/trampoline.h>

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace fuzzed {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point &other) const { return x == other.x && y == other.y; }
};
struct Line {
  Point from, to;
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

/* Virtual functions in three levels. */
struct Animal {
  virtual ~Animal() = default;
  virtual std::string name() const { return "Animal"; }
  virtual std::string_view view() const { return "view"; }
  virtual int sound(int times) const = 0;
  virtual std::vector<int> numbers(const std::vector<int> &given) const { return given; }
  virtual nb::object any(nb::object value) const { return value; }
  virtual std::shared_ptr<Point> point(const Point &p) const { return std::make_shared<Point>(p); }
  virtual void hear(const std::function<int(int)> &f) { (void)f(1); }
};
struct Front {
  virtual ~Front() = default;
  int front = 1;
};
struct PyAnimal : Front, Animal {
  FFI_HPY_TRAMPOLINE(Animal);
  std::string name() const override { FFI_HPY_OVERRIDE(name); }
  std::string_view view() const override { FFI_HPY_OVERRIDE(view); }
  int sound(int times) const override { FFI_HPY_OVERRIDE_PURE(sound, times); }
  std::vector<int> numbers(const std::vector<int> &given) const override { FFI_HPY_OVERRIDE(numbers, given); }
  nb::object any(nb::object value) const override { FFI_HPY_OVERRIDE(any, value); }
  std::shared_ptr<Point> point(const Point &p) const override { FFI_HPY_OVERRIDE(point, p); }
  void hear(const std::function<int(int)> &f) override { FFI_HPY_OVERRIDE(hear, f); }
};
struct Dog : Animal {
  int age = 1;
  Dog() = default;
  explicit Dog(int age) : age(age) {
    if (age < 0) throw std::invalid_argument("a negative age");
  }
  std::string name() const override { return "Dog"; }
  int sound(int times) const override { return times * age; }
};
struct PyDog : Dog {
  FFI_HPY_TRAMPOLINE(Dog);
  std::string name() const override { FFI_HPY_OVERRIDE(name); }
  int sound(int times) const override { FFI_HPY_OVERRIDE(sound, times); }
  std::vector<int> numbers(const std::vector<int> &given) const override { FFI_HPY_OVERRIDE(numbers, given); }
};
struct Puppy : Dog {
  Puppy() : Dog(0) {}
  std::string name() const override { return "Puppy"; }
};

/* Values with several owners. */
struct Node : std::enable_shared_from_this<Node> {
  int number = 0;
  nb::object data;
  std::function<int(int)> callback;
  std::shared_ptr<Node> next;
};
/* Objects that count their references themselves. */
struct Counted : nb::intrusive_base {
  int number;
  nb::ref<Counted> next;
  explicit Counted(int number) : number(number) {}
};
/* A value that moves between C++ and Python. */
struct Parcel {
  int weight;
  explicit Parcel(int weight) : weight(weight) {}
  virtual ~Parcel() = default;
};
struct HeavyParcel : Parcel {
  HeavyParcel() : Parcel(100) {}
};

struct Number {
  int64_t n;
  Number operator+(Number other) const { return {n ^ other.n}; }
  Number operator+(int other) const { return {n ^ other}; }
  Number operator-() const { return {~n}; }
  bool operator==(Number other) const { return n == other.n; }
  bool operator<(Number other) const { return n < other.n; }
  Number &operator+=(Number other) {
    n ^= other.n;
    return *this;
  }
  friend Number operator*(int factor, Number n) { return {factor ^ n.n}; }
};
struct State {
  int x;
  std::string text;
  State(int x, std::string text) : x(x), text(std::move(text)) {
    if (x < 0) throw std::invalid_argument("a negative number");
  }
};
struct Source {
  int n;
};
struct Target {
  int n;
  explicit Target(Source source) : n(source.n) {}
  explicit Target(int n) : n(n) {}
};
struct Unique {
  int value;
  static std::shared_ptr<Unique> make(int value) {
    static nb::ft_mutex &mutex = *new nb::ft_mutex;
    static auto &all = *new std::map<int, std::weak_ptr<Unique>>;
    nb::ft_lock_guard lock(mutex);
    auto known = all[value].lock();
    if (known == nullptr) all[value] = known = std::make_shared<Unique>(Unique{value});
    return known;
  }
};
/* The items are values, which do not change. */
struct Squares {
  struct iterator {
    int n;
    std::pair<int, int> operator*() const { return {n, n * n}; }
    iterator &operator++() {
      ++n;
      return *this;
    }
    bool operator==(const iterator &other) const { return n == other.n; }
  };
  iterator begin() const { return {0}; }
  iterator end() const { return {4}; }
};
struct Words {
  std::map<std::string, std::string> all{{"a", "b"}, {"c", "d"}};
};
struct Matrix {
  float values[6] = {0, 1, 2, 3, 4, 5};
};
struct Settings {
  static inline std::atomic<int> level{1};
};
struct Frozen {};
struct Final {};
struct Generic {};
struct Outer {
  struct Inner {};
};

enum class Color { red = 1, green = 2, blue = 4 };
enum class Size : uint64_t { small = 1, all = UINT64_MAX };
enum class Access { read = 1, write = 2 };
enum class Mode { read, write };
enum Level { low, high = 10 };

struct TooSmall : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Translated : std::exception {};

void throw_error(int which) {
  switch (which) {
  case 0: throw std::out_of_range("m");
  case 1: throw std::invalid_argument("m");
  case 2: throw std::overflow_error("m");
  case 3: throw std::bad_cast();
  case 7: throw TooSmall("m");
  case 8: throw Translated();
  case 16: throw nb::key_error("m");
  case 255: throw nb::stop_iteration();
  case -1: throw 1;
  default: try { throw TooSmall("inner");
    } catch (...) {
      std::throw_with_nested(std::system_error(ENOENT, std::generic_category(), "outer"));
    }
  }
}

/* A function that C++ keeps between calls. Python code may run when it ends, so it ends without the lock. */
std::function<int(int)> exchange_callback(std::function<int(int)> f) {
  static nb::ft_mutex &mutex = *new nb::ft_mutex;
  static auto &kept = *new std::function<int(int)>;
  nb::ft_lock_guard lock(mutex);
  kept.swap(f);
  return f;
}

void define_functions(nb::module_ &m) {
  m.def("nothing", [] {});
  m.def("int8", [](int8_t x) { return x; });
  m.def("uint64", [](uint64_t x) { return x; });
  m.def("int64", [](int64_t x) { return x; }, "x"_a.noconvert());
  m.def("float32", [](float x) { return x; });
  m.def("char", [](char c) { return c; });
  m.def("view", [](std::string_view text) { return text; });
  m.def(
      "text_or_none", [](const char *text) { return text == nullptr ? std::string("-") : std::string(text); },
      "text"_a = nullptr);
  m.def("add", [](int a, int b) { return a ^ b; }, "a"_a, "b"_a = 1);
  m.def(
      "add", [](const std::string &a, const std::string &b) { return a.substr(0, 9) + b.substr(0, 9); }, "a"_a,
      "b"_a = "!");
  m.def("kind", [](int) { return "int"; });
  m.def("kind", [](double) { return "float"; });
  m.def("kind", [](const std::string &) { return "str"; });
  m.def("kind", [](const std::vector<int> &) { return "list"; });
  m.def("kind", [](const std::map<std::string, int> &) { return "dict"; });
  m.def("kind", [](const Animal &) { return "Animal"; });
  m.def("kind", [](nb::callable) { return "callable"; });
  m.def("by_name", [](int i, nb::object j) { return nb::make_tuple(i, j); }, "i"_a, nb::kw_only(), "name"_a = 5);
  m.def("rest", [](int a, nb::args args, nb::kwargs kwargs) { return nb::make_tuple(a, args, kwargs); });
  m.def(
      "all_kinds", [](int i, nb::args args, int z, nb::kwargs kwargs) { return nb::make_tuple(i, args, z, kwargs); },
      "x"_a, "args"_a, "key"_a = 1, "kwargs"_a);
  m.def(
      "default_point", [](const Point &p, const std::vector<int> &v) { return p.x + double(v.size()); },
      "name"_a = Point{1, 2}, "value"_a = std::vector<int>{1});
  m.def("released", [](int64_t x) { return x; }, nb::call_guard<nb::gil_scoped_release>());
  m.def("keep_alive", [](nb::handle, nb::handle result) { return result; }, nb::keep_alive<0, 1>());
  m.def("link", [](nb::handle, nb::handle) {}, nb::keep_alive<1, 2>());
  m.def("raise", &throw_error);
  m.def("raise_from", [](nb::callable f, nb::object cls) {
    try {
      f();
    } catch (nb::python_error &error) {
      nb::raise_from(error, cls, "call %d failed", 2);
    }
  });
  m.def("catch", [](nb::callable f, nb::args args) -> nb::object {
    try {
      return f(*args);
    } catch (nb::python_error &error) {
      if (!error.matches(nb::builtins()["Exception"])) throw;
      (void)error.what();
      return nb::make_tuple(error.type(), error.value(), error.traceback());
    }
  });

  /* the standard library */
  m.def("ints", [](std::vector<int> v) { return v; });
  m.def("bools", [](const std::vector<bool> &v) { return v; });
  m.def("strict_ints", [](const std::vector<int8_t> &v) { return v; }, nb::arg().noconvert());
  m.def("texts", [](std::vector<std::string> v) { return v; });
  m.def("views", [](const std::vector<std::string_view> &v) { return v; });
  m.def("text_pointers", [](const std::vector<const char *> &v) {
    size_t n = 0;
    for (const char *each : v) n += each == nullptr ? 1 : std::char_traits<char>::length(each);
    return n;
  });
  m.def("rows", [](std::deque<std::list<double>> v) { return v; });
  m.def("array", [](std::array<int, 3> v) { return v; });
  m.def("mixed", [](std::tuple<int, std::string, std::optional<double>> t) { return t; });
  m.def("pair", [](std::pair<uint8_t, nb::object> p) { return p; });
  m.def("map", [](std::map<std::string, std::vector<int>> v) { return v; });
  m.def("hash_map", [](const std::unordered_map<int, std::string> &v) { return v; });
  m.def("float_keys", [](const std::map<float, nb::object> &v) { return v; });
  m.def("set", [](std::set<std::tuple<int, int>> v) { return v; });
  m.def("hash_set", [](std::unordered_set<std::string> v) { return v; });
  m.def("optional", [](std::optional<std::vector<int>> v) { return v; }, "v"_a = nullptr);
  m.def("variant", [](std::variant<std::monostate, int, std::string, Point, std::vector<int>> v) { return v; });
  m.def("complex", [](std::complex<double> v) { return v; });
  m.def("wide", [](const std::wstring &v) { return v; });
  m.def("path", [](const std::filesystem::path &v) { return v; });
  m.def("duration", [](std::chrono::microseconds v) { return v; });
  m.def("time", [](std::chrono::system_clock::time_point v) { return v; });
  m.def("objects", [](std::vector<nb::object> v) { return v; });
  m.def("points", [](std::vector<Point> v) { return v; });
  m.def("nodes", [](std::vector<std::shared_ptr<Node>> v) { return v; });
  m.def("point_map", [](std::map<std::string, Point> v) { return v; });
  m.def("parcels", [](std::vector<std::unique_ptr<Parcel>> v) { return v; });
  m.def("colors", [](std::vector<Color> v) { return v; });

  /* callbacks */
  using Function = std::function<int(int)>;
  m.def("apply", [](const Function &f, int x) { return f(x); });
  m.def("echo_callback", [](Function f) { return f; }, nb::arg().none());
  m.def("set_callback", [](Function f) { (void)exchange_callback(std::move(f)); }, nb::arg().none());
  m.def("call_callback", [](int x) {
    Function f = exchange_callback(nullptr);
    return f ? f(x) : -1;
  });
  m.def("multiplier", [](int k) -> Function { return [k](int x) { return x ^ k; }; });
  m.def("give_containers",
        [](const std::function<std::vector<std::string>(std::vector<int>, std::map<int, int>, const Point &)> &f) {
          return f({1, 2}, {{5, 6}}, Point{1, 2});
        });
  m.def("view_of_callback", [](const std::function<std::string_view()> &f) { return std::string(f()); });
  m.def("object_callback", [](const std::function<nb::object(nb::object)> &f, nb::object x) { return f(f(x)); });
  m.def(
      "call_on_thread",
      [](const Function &f, int x) {
        std::exception_ptr thrown;
        int result = 0;
        std::thread([&] {
          try {
            result = f(x);
          } catch (...) {
            thrown = std::current_exception();
          }
        }).join();
        if (thrown) std::rethrow_exception(thrown);
        return result;
      },
      nb::call_guard<nb::gil_scoped_release>());
  m.def("between", [](const Point &p, nb::callable f, const std::string &text, const std::vector<std::string> &all) {
    double before = p.x;
    nb::object result = f(p.y);
    size_t n = text.size();
    for (const std::string &each : all) n += each.size();
    return nb::make_tuple(before, p.x, result, n);
  });
  m.def("between_views", [](std::string_view text, nb::callable f, const char *more) {
    f();
    return text.size() + std::char_traits<char>::length(more);
  });
  m.def("between_dogs", [](std::shared_ptr<Animal> dog, nb::callable f) {
    f(dog);
    return dog->name();
  });

  /* objects of Python */
  m.def("same", [](nb::object value) { return value; });
  m.def("items_of", [](nb::iterable in) {
    nb::list made;
    for (nb::handle each : in) {
      made.append(each);
      if (made.size() > 100) break;
    }
    return made;
  });
  m.def("pairs_of", [](nb::dict in) {
    nb::list made;
    for (auto [key, value] : in) made.append(nb::make_tuple(key, value));
    return made;
  });
  m.def("each_of_list", [](nb::list in) {
    nb::list made;
    for (nb::handle each : in) made.append(nb::str(each));
    return made;
  });
  m.def("each_of_tuple", [](nb::tuple in) {
    size_t n = 0;
    for (size_t i = 0; i < in.size(); ++i) n += nb::len(in[i]);
    return n;
  });
  m.def("set_of", [](nb::set in, nb::object more) {
    in.add(more);
    return nb::make_tuple(in.contains(more), in.size());
  });
  m.def("attributes", [](nb::object o) {
    nb::object old = nb::getattr(o, "name", nb::none());
    o.attr("name") = 1;
    nb::delattr(o, "name");
    return nb::make_tuple(old, nb::hasattr(o, "name"), o.attr("__class__").attr("__name__"));
  });
  m.def("questions", [](nb::object o, nb::object p) {
    return nb::make_tuple(nb::repr(o), nb::hash(o), o.equal(p), nb::str(o), nb::isinstance<nb::list>(o),
                          nb::isinstance<Point>(o), nb::isinstance(o, p));
  });
  m.def("compute", [](nb::object o, nb::object p) { return (o + p) - (o * p); });
  m.def("slice", [](nb::slice s, size_t n) {
    auto [start, stop, step, length] = s.compute(n).values;
    return nb::make_tuple(start, stop, step, length);
  });
  m.def("bytes", [](nb::bytes b, nb::bytearray a) { return nb::make_tuple(b.size(), a.size(), nb::bytes(b.c_str())); });
  m.def("numbers", [](nb::int_ i, nb::float_ f, nb::bool_ b) {
    return nb::make_tuple(static_cast<int64_t>(i), static_cast<double>(f), static_cast<bool>(b));
  });
  m.def("weak", [](nb::object o, nb::callable f) { return nb::weakref(o, f); });
  m.def("cast", [](nb::handle o, int to) -> nb::object {
    switch (to) {
    case 0: return nb::cast(nb::cast<int>(o));
    case 1: return nb::cast(nb::cast<std::string>(o));
    case 2: return nb::cast(nb::cast<std::vector<double>>(o));
    case 3: return nb::cast(nb::cast<Point>(o));
    case 7: return nb::cast(nb::cast<std::shared_ptr<Node>>(o));
    case 8: return nb::cast(nb::cast<Target>(o).n);
    case 16: return nb::cast(nb::cast<Color>(o));
    default: {
      Point *p = nullptr;
      return nb::cast(nb::try_cast(o, p) && p != nullptr ? p->x : 0.0);
    }
    }
  });
  m.def("about", [](nb::handle value) -> nb::object {
    if (nb::type_check(value)) {
      return nb::make_tuple(nb::type_size(value), nb::type_align(value), nb::type_name(value),
                            nb::type_lookup(value, "name"), nb::type_info(value) == typeid(Point));
    }
    if (nb::inst_check(value)) return nb::make_tuple(nb::inst_state(value), nb::inst_name(value));
    return nb::none();
  });
  m.def("make_by_hand", [](int how) -> nb::object {
    nb::object made = how < 2 ? nb::inst_alloc(nb::type<Point>()) : nb::inst_alloc_zero(nb::type<Point>());
    if (how != 1 && !nb::inst_ready(made)) {
      new (nb::inst_ptr<Point>(made)) Point{1, 2};
      nb::inst_mark_ready(made);
    }
    return made;
  });
}

void define_enums(nb::module_ &m) {
  nb::enum_<Color>(m, "Color", "Colors.")
      .value("red", Color::red)
      .value("green", Color::green)
      .value("blue", Color::blue)
      .def(
          "times", [](Color color, int x) { return static_cast<int>(color) ^ x; }, "self"_a, "x"_a = 2)
      .def_prop_ro("next", [](Color color) { return color == Color::red ? Color::green : Color::blue; });
  nb::enum_<Level>(m, "Level", nb::is_arithmetic()).value("low", low).value("high", high).export_values();
  nb::enum_<Access>(m, "Access", nb::is_flag()).value("read", Access::read).value("write", Access::write);
  nb::enum_<Mode>(m, "Mode", nb::is_str()).str_value("read", Mode::read, "r").str_value("write", Mode::write, "w");
  nb::enum_<Size>(m, "Size").value("small", Size::small).value("all", Size::all);
  m.def("color", [](Color c) { return c; }, "color"_a = Color::red);
  m.def("exact_color", [](Color c) { return c; }, nb::arg().noconvert());
  m.def("to_color", [](int x) { return static_cast<Color>(x); });
  m.def("level", [](Level level) { return level; });
  m.def("access", [](Access access) { return access; });
  m.def("mode", [](Mode mode) { return mode; });
  m.def("size", [](Size size) { return size; });
}

void define_classes(nb::module_ &m) {
  nb::class_<Point>(m, "Point", nb::dynamic_attr(), nb::is_weak_referenceable())
      .def(nb::init<>())
      .def(nb::init<double, double>(), "x"_a, "y"_a)
      .def(nb::init<const Point &>(), "other"_a)
      .def_rw("x", &Point::x)
      .def_rw("y", &Point::y)
      .def(
          "__eq__", [](const Point &a, const Point &b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Point &p) { return p.x > 0; })
      .def("__len__", [](const Point &) { return 2; })
      .def("__getitem__",
           [](const Point &p, int i) {
             if (i < 0 || i > 1) throw nb::index_error();
             return i == 0 ? p.x : p.y;
           })
      .def("__setitem__", [](Point &p, int i, double value) { (i == 0 ? p.x : p.y) = value; })
      .def("__delitem__", [](Point &, int) {})
      .def("__contains__", [](const Point &p, double value) { return p.x == value; })
      .def("__iter__", [](const Point &p) { return nb::iter(nb::make_tuple(p.x, p.y)); })
      .def("__call__", [](const Point &p, nb::args args) { return args.size() + size_t(p.x > 0); })
      .def("__bool__", [](const Point &p) { return p.x != 0; })
      .def("__index__", [](const Point &p) { return p.x > 0 ? 1 : 0; })
      .def("__float__", [](const Point &p) { return p.x; })
      .def("__enter__", [](nb::handle self) { return self; })
      .def("__exit__", [](const Point &, const nb::args &) { return false; })
      .def(
          "me", [](Point &self) -> Point & { return self; }, nb::rv_policy::none)
      .def("copy", [](const Point &self) { return self; })
      .def("pointer", [](Point &self) { return &self; }, nb::rv_policy::reference_internal);
  nb::class_<Line>(m, "Line")
      .def(nb::init<>())
      .def(nb::init<Point, Point>(), "start"_a, "end"_a)
      .def_rw("start", &Line::from)
      .def_rw("end", &Line::to)
      .def_prop_ro("middle", [](const Line &line) { return Point{line.from.x / 2, line.to.x / 2}; });

  nb::class_<Engine>(m, "Engine").def_ro("power", &Engine::power);
  nb::class_<Wheels>(m, "Wheels").def(nb::init<>()).def_rw("n", &Wheels::n).def("count", &Wheels::count);
  nb::class_<Car, Wheels>(m, "Car").def(nb::init<>()).def_prop_ro("power", [](const Car &car) { return car.power; });
  m.def("count_wheels", [](const Wheels &wheels) { return wheels.count(); });
  m.def("make_car", []() -> std::unique_ptr<Wheels> { return std::unique_ptr<Wheels>(new Wheels); });

  nb::class_<Animal, PyAnimal>(m, "Animal")
      .def(nb::init<>())
      .def("name", &Animal::name)
      .def("view", &Animal::view)
      .def("sound", &Animal::sound, "times"_a = 1)
      .def("numbers", &Animal::numbers)
      .def("any", &Animal::any)
      .def("point", &Animal::point)
      .def("hear", &Animal::hear);
  nb::class_<Dog, PyDog, Animal>(m, "Dog")
      .def(nb::init<>())
      .def(nb::init<int>(), "age"_a)
      .def_ro("age", &Dog::age)
      .def_static("puppy", [](int age) { return std::make_shared<Dog>(age); });
  nb::class_<Puppy, Dog>(m, "Puppy").def(nb::init<>());
  m.def("name_of", [](const Animal &a) { return a.name(); });
  m.def("view_of", [](const Animal &a) { return std::string(a.view()); });
  m.def("sound_of", [](const Animal &a, int times) { return a.sound(times); });
  m.def("numbers_of", [](const Animal &a, const std::vector<int> &v) { return a.numbers(v); });
  m.def("any_of", [](const Animal &a, nb::object v) { return a.any(v); });
  m.def("point_of", [](const Animal &a, const Point &p) { return a.point(p); });
  m.def("hear_of", [](Animal &a, const std::function<int(int)> &f) { a.hear(f); });
  m.def("share_animal", [](std::shared_ptr<Animal> a) { return a; }, "animal"_a.none());
  m.def("new_animal", [](int age) -> Animal * { return age > 1 ? new Dog(age) : new Puppy; });

  nb::class_<Node>(m, "Node", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def_rw("number", &Node::number)
      .def_prop_rw(
          "data",
          [](nb::handle whole) {
            nb::ft_object_guard lock(whole);
            return nb::cast<Node &>(whole).data;
          },
          [](nb::handle whole, nb::object value) { /* Python code may run when the former value ends */
                                                   nb::ft_object_guard lock(whole);
                                                   std::swap(nb::cast<Node &>(whole).data, value);
          },
          nb::for_setter(nb::arg().none()))
      .def_prop_rw(
          "callback",
          [](nb::handle whole) {
            nb::ft_object_guard lock(whole);
            return nb::cast<Node &>(whole).callback;
          },
          [](nb::handle whole, std::function<int(int)> value) {
            nb::ft_object_guard lock(whole);
            nb::cast<Node &>(whole).callback.swap(value);
          },
          nb::for_setter(nb::arg().none()))
      .def_prop_rw(
          "next",
          [](nb::handle whole) {
            nb::ft_object_guard lock(whole);
            return nb::cast<Node &>(whole).next;
          },
          [](nb::handle whole, std::shared_ptr<Node> value) {
            nb::ft_object_guard lock(whole);
            nb::cast<Node &>(whole).next.swap(value);
          },
          nb::for_setter(nb::arg().none()))
      .def("call",
           [](nb::handle whole, int x) {
             std::function<int(int)> f;
             {
               nb::ft_object_guard lock(whole);
               f = nb::cast<Node &>(whole).callback;
             }
             return f ? f(x) : -1;
           })
      .def("shared", [](Node &node) { return node.weak_from_this().lock(); })
      .def("self", [](std::shared_ptr<Node> node) { return node; })
      .def_traverse([](const Node &node, const nb::reference_visitor &visit) {
        visit(node.data);
        visit(node.callback);
        visit(node.next);
      });
  m.def("make_node", [] { return std::make_shared<Node>(); });
  m.def("pass_node", [](std::shared_ptr<Node> node) { return node; }, nb::arg().none());

  nb::class_<Counted>(m, "Counted", nb::intrusive_ptr<Counted>([](Counted *object, TVMFFIObject *self) noexcept {
                        object->set_self_py(self);
                      }))
      .def(nb::init<int>())
      .def_rw("number", &Counted::number)
      .def(
          "put",
          [](Counted &self, nb::ref<Counted> next) {
            if (next.get() != &self) self.next = std::move(next);
          },
          nb::lock_self(), nb::arg().none())
      .def("take", [](Counted &self) { return std::move(self.next); }, nb::lock_self());
  m.def("make_counted", [](int number) { return nb::ref<Counted>(new Counted(number)); });
  m.def("pass_counted", [](nb::ref<Counted> object) { return object; }, nb::arg().none());

  nb::class_<Parcel>(m, "Parcel").def(nb::init<int>()).def_ro("weight", &Parcel::weight);
  nb::class_<HeavyParcel, Parcel>(m, "HeavyParcel").def(nb::init<>());
  m.def("make_parcel", [](int weight) { return std::make_unique<Parcel>(weight); });
  m.def("make_heavy_parcel", []() -> std::unique_ptr<Parcel> { return std::make_unique<HeavyParcel>(); });
  m.def("pass_parcel", [](std::unique_ptr<Parcel> parcel) { return parcel; }, nb::arg().none());
  m.def("pass_any_parcel", [](std::unique_ptr<Parcel, nb::deleter<Parcel>> parcel) { return parcel; });
  m.def("drop_parcel", [](std::unique_ptr<Parcel>) {});

  nb::class_<Number>(m, "Number")
      .def(nb::init<int64_t>())
      .def_ro("n", &Number::n)
      .def(nb::self + nb::self)
      .def(nb::self + int())
      .def(int() * nb::self)
      .def(nb::self += nb::self)
      .def(-nb::self)
      .def(nb::self == nb::self)
      .def(nb::self < nb::self)
      .def("__repr__", [](const Number &n) { return std::to_string(n.n); })
      .def("__radd__", [](const Number &self, int left) { return left ^ self.n; }, nb::is_operator());
  nb::class_<State>(m, "State")
      .def(nb::init<int, std::string>(), "x"_a, "name"_a = "why")
      .def_ro("x", &State::x)
      .def_ro("text", &State::text)
      .def("__getstate__", [](const State &self) { return std::make_pair(self.x, self.text); })
      .def("__setstate__",
           [](State &self, const std::pair<int, std::string> &state) { new (&self) State(state.first, state.second); });
  nb::class_<Source>(m, "Source").def(nb::init<int>());
  nb::class_<Target>(m, "Target").def(nb::init_implicit<int>()).def(nb::init<Source>()).def_ro("n", &Target::n);
  nb::implicitly_convertible<Source, Target>();
  m.def("target", [](const Target &target) { return target.n; });
  m.def(
      "kept_target", [](const Target &target, nb::object more) { return nb::make_tuple(target.n, more); },
      nb::keep_alive<0, 1>());
  m.def("shared_target", [](std::shared_ptr<Target> target) { return target; });
  m.def("targets", [](const std::vector<Target> &all) { return all.size(); });
  nb::class_<Unique>(m, "Unique").def(nb::new_(&Unique::make), "value"_a).def_ro("value", &Unique::value);
  nb::class_<Settings>(m, "Settings")
      .def_prop_rw_static(
          "level", [](nb::handle) { return Settings::level.load(); },
          [](nb::handle, int value) { Settings::level = value; })
      .def_prop_ro_static("owner", [](nb::handle cls) { return cls.attr("__name__"); })
      .def_static("get", [] { return Settings::level.load(); });
  nb::class_<Frozen>(m, "Frozen").def(nb::init<>()).freeze();
  nb::class_<Final>(m, "Final", nb::is_final()).def(nb::init<>());
  nb::class_<Generic>(m, "Generic", nb::is_generic()).def(nb::init<>());
  auto outer = nb::class_<Outer>(m, "Outer").def(nb::init<>());
  nb::class_<Outer::Inner>(outer, "Inner").def(nb::init<>()).def("make", [](const Outer::Inner &) { return Outer(); });
}

using Ints = std::vector<unsigned>;
using Texts = std::vector<std::vector<std::string>>;
using Dogs = std::vector<std::shared_ptr<Dog>>;
using FloatMap = std::map<std::string, double>;
using PointMap = std::map<int, Point>;
using DogMap = std::unordered_map<std::string, std::shared_ptr<Dog>>;
using Callbacks = std::vector<std::function<int(int)>>;

} // namespace fuzzed

FFI_HPY_MAKE_OPAQUE(fuzzed::Ints);
FFI_HPY_MAKE_OPAQUE(fuzzed::Texts);
FFI_HPY_MAKE_OPAQUE(fuzzed::Dogs);
FFI_HPY_MAKE_OPAQUE(fuzzed::FloatMap);
FFI_HPY_MAKE_OPAQUE(fuzzed::PointMap);
FFI_HPY_MAKE_OPAQUE(fuzzed::DogMap);
FFI_HPY_MAKE_OPAQUE(fuzzed::Callbacks);

namespace fuzzed {

void define_containers(nb::module_ &m) {
  nb::bind_vector<Ints>(m, "Ints");
  nb::bind_vector<Texts>(m, "Texts");
  nb::bind_vector<Dogs>(m, "Dogs");
  nb::bind_vector<Callbacks>(m, "Callbacks", nb::is_weak_referenceable());
  nb::bind_map<FloatMap>(m, "FloatMap");
  nb::bind_map<PointMap>(m, "PointMap");
  nb::bind_map<DogMap>(m, "DogMap");
  m.def(
      "sum",
      [](const Ints &v) {
        unsigned sum = 0;
        for (unsigned each : v) sum += each;
        return sum;
      },
      nb::arg("v").lock());
  m.def("pass_dogs", [](const Dogs &v) { return v; }, nb::arg("v").lock());
  m.def("pass_map", [](const FloatMap &v) { return v; }, nb::arg("v").lock());
  nb::class_<Squares>(m, "Squares")
      .def(nb::init<>())
      .def("__iter__", [](const Squares &s) { return nb::make_iterator(nb::type<Squares>(), "Items", s); })
      .def("keys",
           [](const Squares &s) { return nb::make_key_iterator(nb::type<Squares>(), "Keys", s.begin(), s.end()); });
  nb::class_<Words>(m, "Words")
      .def(nb::init<>())
      .def(
          "__iter__",
          [](const Words &w) { return nb::make_key_iterator(nb::type<Words>(), "Keys", w.all.begin(), w.all.end()); },
          nb::keep_alive<0, 1>())
      .def(
          "values",
          [](const Words &w) {
            return nb::make_value_iterator(nb::type<Words>(), "Values", w.all.begin(), w.all.end());
          },
          nb::keep_alive<0, 1>());
  nb::handle scope = m;
  m.def("pass_on", [scope](nb::iterator it) -> nb::iterator {
    return nb::make_iterator(scope, "Passed", std::begin(it), std::end(it));
  });
}

void define_arrays(nb::module_ &m) {
  using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
  m.def("sum_array", [](Doubles a) {
    double sum = 0;
    for (size_t i = 0; i < a.shape(0); ++i) sum += a(i);
    return sum;
  });
  m.def(
      "fill",
      [](nb::ndarray<float, nb::ndim<2>, nb::device::cpu> a) {
        auto v = a.view();
        for (size_t i = 0; i < v.shape(0); ++i)
          for (size_t j = 0; j < v.shape(1); ++j) v(i, j) = static_cast<float>(10 * i + j);
      },
      nb::arg().noconvert());
  m.def(
      "describe_array",
      [](const nb::ndarray<nb::ro> &a) {
        return nb::make_tuple(a.is_valid(), a.ndim(), a.size(), a.nbytes(), a.itemsize(), int(a.dtype().bits));
      },
      nb::arg().none());
  m.def("order", [](nb::ndarray<nb::ro, nb::c_contig>) { return "C"; });
  m.def("order", [](nb::ndarray<nb::ro, nb::f_contig>) { return "F"; });
  m.def("order", [](nb::ndarray<nb::ro>) { return "?"; });
  m.def("pass_array", [](nb::ndarray<> a) { return a; });
  m.def("copy_array", [](nb::ndarray<> a) { return a; }, nb::rv_policy::copy);
  m.def("converted_array", [](nb::ndarray<const float, nb::c_contig, nb::ndim<2>> a) { return a; });
  m.def("bytes_of_array", [](nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> a) {
    return nb::bytes(a.data(), a.size());
  });
  m.def("sum_arrays", [](const std::vector<Doubles> &all) {
    double sum = 0;
    for (const auto &a : all)
      if (a.size() != 0) sum += a(0);
    return sum;
  });
  m.def("array_between", [](Doubles a, nb::callable f) {
    f();
    return a.size() == 0 ? 0 : a(a.size() - 1);
  });
  auto made = [](auto form) {
    using Array = decltype(form);
    auto *data = new float[6]{1, 2, 3, 4, 5, 6};
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<float *>(p); });
    return Array(data, {2, 3}, owner);
  };
  m.def("capsule_array", [made] { return made(nb::ndarray<float, nb::shape<2, 3>>()); });
  m.def("memory_array", [made] { return made(nb::ndarray<nb::memview, float, nb::shape<2, 3>>()); });
  m.def("tensor_array", [made] { return made(nb::ndarray<nb::array_api, float>()); });
  m.def("numpy_array", [made] { return made(nb::ndarray<nb::numpy, float, nb::shape<2, 3>>()); });
  nb::class_<Matrix>(m, "Matrix")
      .def(nb::init<>())
      .def(
          "memory", [](Matrix &self) { return nb::ndarray<nb::memview, float, nb::shape<2, 3>>(self.values); },
          nb::rv_policy::reference_internal)
      .def(
          "tensor", [](Matrix &self) { return nb::ndarray<nb::array_api, float, nb::shape<2, 3>>(self.values); },
          nb::rv_policy::reference_internal);
}

} // namespace fuzzed

FFI_HPY_MODULE(bound_fuzzed, m) {
  using namespace fuzzed;
  m.attr("answer") = 42;
  nb::set_implicit_cast_warnings(false);
  nb::exception<TooSmall>(m, "TooSmall", "ValueError");
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Translated &) {
      nb::set_error("LookupError", "translated");
    }
  });
  define_classes(m);
  define_enums(m);
  define_containers(m);
  define_arrays(m);
  define_functions(m);
  nb::module_ inner = m.def_submodule("inner", "A module inside.");
  inner.def("twice", [](int x) { return 2 * int64_t(x); });
}
