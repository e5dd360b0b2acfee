/* A library that is bound with ffi_hpy/bind.h: the module `bound_calls`. Guards, locks, policies and lifetimes. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/vector.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

struct Counter {
  int n = 0;
  static inline std::atomic<int> n_alive{0};
  Counter() { ++n_alive; }
  ~Counter() { --n_alive; }
  void add_slowly() {
    int before = n;
    std::this_thread::yield();
    n = before + 1;
  }
};
struct Nurse {};
enum class Level { low, high };
struct Numbers {
  std::vector<int> values{1, 2, 3};
};

struct Loud {
  std::string text;
};

struct Mark {
  static inline int depth = 0;
  Mark() { ++depth; }
  Mark(const Mark &) = delete;
  ~Mark() { --depth; }
};

struct Doubling {
  static void precall(nb::handle *args, size_t n, nb::detail::cleanup_list *) {
    for (size_t i = 0; i < n; ++i) args[i] = nb::detail::int_value(2 * nb::cast<int>(args[i]));
  }
  static inline int last = 0;
  static void postcall(nb::handle *, size_t, nb::handle result) {
    last = nb::cast<int>(result);
    if (last == 66) throw std::runtime_error("66 is refused");
  }
};

nb::ft_mutex mutex;
int guarded = 0;

std::exception_ptr kept_error;

struct Gate {
  std::atomic<bool> is_open{false};
};

/* Whether another thread of Python opens the gate during the call. */
bool wait_inside(Gate &gate, nb::callable f) {
  bool was_opened = false;
  {
    nb::gil_scoped_release released;
    nb::gil_scoped_release again;
    for (int i = 0; i < 20000 && !was_opened; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      was_opened = gate.is_open;
    }
    {
      nb::gil_scoped_acquire acquired;
    }
    f(1);
  }
  f(2);
  return was_opened;
}

void call_from_thread(nb::callable f) {
  nb::gil_scoped_release released;
  std::thread([&f] {
    nb::gil_scoped_acquire acquired;
    f(3);
  }).join();
}

int add_guarded() {
  nb::ft_lock_guard lock(mutex);
  nb::ft_lock_guard again(mutex);
  int before = guarded;
  std::this_thread::yield();
  return guarded = before + 1;
}

/* Nurses whose constructors take the patient. */
struct ByInit {
  explicit ByInit(const Counter &) {}
};
struct ByPlacement {};
struct ByNew {};

void move(Counter &from, Counter &to) {
  from.add_slowly();
  to.add_slowly();
}

} // namespace

/* Casters of an author. That of a number accepts no number but a text of one digit; the other one derives from a caster
 * of the package, and keeps an object until the function returns. */
template <> struct ffi_hpy::detail::type_caster<short> : ffi_hpy::detail::native_caster {
  FFI_HPY_TYPE_CASTER(short, const_name("str"));
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    make_caster<std::string> text;
    return text.from_python(source, flags, cleanup) && text.value.size() == 1 && text.value[0] <= '9';
  }
};
template <> struct ffi_hpy::detail::type_caster<Loud> : ffi_hpy::detail::type_caster<std::string> {
  template <typename> using Cast = Loud;
  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (!type_caster<std::string>::from_python(source, flags, cleanup)) return false;
    cleanup->append(str_of(value + '!').release());
    return true;
  }
  explicit operator Loud() { return {value + '!'}; }
};

FFI_HPY_MODULE(bound_calls, m) {
  nb::class_<Nurse>(m, "Nurse").def(nb::init<>());
  nb::class_<Counter>(m, "Counter")
      .def(nb::init<>())
      .def_ro("n", &Counter::n)
      .def_static("alive", [] { return Counter::n_alive.load(); })
      .def("add", &Counter::add_slowly, nb::lock_self())
      .def(
          "add_nested",
          [](Counter &self, nb::handle me) {
            me.attr("add")();
            self.add_slowly();
          },
          nb::lock_self());
  m.def("move", &move, nb::arg("source").lock(), "target"_a.lock());
  m.def("keep_arg", [](nb::handle, nb::handle result) { return result; }, nb::keep_alive<0, 1>());
  m.def("keep_result", [](nb::handle, nb::handle result) { return result; }, nb::keep_alive<1, 0>());
  nb::class_<ByInit>(m, "ByInit").def(nb::init<const Counter &>(), nb::keep_alive<1, 2>());
  nb::class_<ByPlacement>(m, "ByPlacement")
      .def("__init__", [](ByPlacement *self, const Counter &) { new (self) ByPlacement; }, nb::keep_alive<1, 2>());
  nb::class_<ByNew>(m, "ByNew")
      .def(nb::new_([](const Counter &) { return std::make_unique<ByNew>(); }), nb::keep_alive<0, 2>());
  m.def("depth", [] { return Mark::depth; }, nb::call_guard<Mark>());
  m.def("accepts_list", [](nb::list list) { return nb::len(list); });
  m.def("depth_of_two", [] { return Mark::depth; }, nb::call_guard<Mark, nb::gil_scoped_release, Mark>());
  m.def("doubled", [](int a, int b) { return a + b; }, nb::call_policy<Doubling>());
  m.def("last_doubled", [] { return Doubling::last; });
  nb::class_<Gate>(m, "Gate").def(nb::init<>()).def("open", [](Gate &gate) { gate.is_open = true; });
  m.def("wait_inside", &wait_inside);
  m.def("call_from_thread", &call_from_thread);
  m.def("add_guarded", &add_guarded);
  nb::enum_<Level>(m, "Level").value("low", Level::low).value("high", Level::high);
  m.def("mixed", [](const std::function<int(int)> &f, Level level, const std::string &text, std::vector<int> numbers) {
    return text + std::to_string(f(numbers.at(0)) + static_cast<int>(level));
  });
  m.def("twice", [](std::function<int(int)> f) { return std::function<int(int)>([f](int x) { return f(f(x)); }); });
  m.def("defaults", [](int a, int b, int c) { return a * 100 + b * 10 + c; }, "a"_a = 1, "b"_a = 2, "c"_a = 3);
  m.def("add_overload", [](nb::handle scope) {
    nb::borrow<nb::module_>(scope).def("grown", [](const std::string &) { return "text"; });
  });
  m.def("grown", [](int) { return "int"; });
  m.def("ranked", [](short) { return "digit"; });
  m.def("ranked", [](uint64_t) { return "unsigned"; });
  m.def("ranked", [](double) { return "float"; });
  m.def("ranked", [](const std::string &) { return "text"; });
  m.def("loud", [](Loud loud) { return loud.text; });
  nb::class_<Numbers>(m, "Numbers")
      .def(nb::init<>())
      .def(
          "__iter__",
          [](const Numbers &numbers) {
            return nb::make_iterator(nb::type<Numbers>(), "iterator", numbers.values.begin(), numbers.values.end());
          },
          nb::keep_alive<0, 1>());
  m.def("same_counters", [](std::vector<Counter *> all) { return all; }, nb::rv_policy::none);
  m.def("n_nurses", [](const std::vector<Nurse> &all) { return all.size(); });
  m.def("counters_after", [](const std::vector<Counter *> &all, const std::function<int()> &f) {
    int sum = f();
    for (Counter *each : all) sum += each->n;
    if (sum == 66) throw std::runtime_error("66 is refused");
    return sum;
  });
  m.def("call_function", [](Counter *counter, const std::function<bool(Counter *)> &f) { return f(counter); });
  m.def("call_object", [](nb::handle value, nb::callable f) { return f(value); });
  m.def("keep_error", [](nb::callable f) {
    try {
      f();
    } catch (...) {
      kept_error = std::current_exception();
    }
  });
  m.def("raise_kept", [] { std::rethrow_exception(kept_error); });
  m.def("drop_kept", [] { kept_error = nullptr; });
  m.def("text_of_error", [](nb::callable f, bool raises) {
    try {
      f();
    } catch (nb::python_error &error) {
      std::string text = std::string(error.kind()) + ": " + std::string(error.message());
      if (raises) throw;
      return text;
    }
    return std::string();
  });
  m.def("put_attribute", [](nb::handle value, nb::handle target) { target.attr("value") = value; });
  m.def("put_items", [](Counter *counter, nb::list list, nb::dict dict) {
    list.append(counter);
    dict["value"] = counter;
    return nb::make_tuple(0, counter);
  });
  m.def("with_object", [](nb::handle object, nb::callable f) {
    nb::ft_object_guard guard(object);
    return f();
  });
}
