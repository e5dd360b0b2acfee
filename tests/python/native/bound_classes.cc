/* A library that is bound with ffi_hpy/bind.h: the module `bound_classes`. Virtual functions, guards, properties,
 * operators and other parts of classes. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/trampoline.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

/* ---- trampolines ---- */

struct Animal {
  virtual ~Animal() = default;
  virtual std::string name() const { return "Animal"; }
  virtual std::string what() const = 0;
  virtual int add(int a, int b) { return a + b; }
  virtual int twice(int x) { return add(x, x); }
  virtual Animal *self() { return this; }
};
struct Front {
  virtual ~Front() = default;
  int front = 1;
};
thread_local std::string last_words; // of an animal that was destroyed
struct PyAnimal : Front, Animal { /* the bound part is not at the beginning */
  FFI_HPY_TRAMPOLINE(Animal, 4);
  ~PyAnimal() override {
    last_words = PyAnimal::name();
    try {
      last_words += PyAnimal::what();
    } catch (const std::exception &error) {
      last_words += std::string("; ") + error.what();
    }
  }
  std::string name() const override { FFI_HPY_OVERRIDE(name); }
  std::string what() const override { FFI_HPY_OVERRIDE_PURE(what); }
  int add(int a, int b) override { FFI_HPY_OVERRIDE_NAME("plus", add, a, b); }
  int twice(int x) override { FFI_HPY_OVERRIDE(twice, x); }
  Animal *self() override { FFI_HPY_OVERRIDE(self); }
};
struct Dog : Animal {
  std::string sound;
  explicit Dog(std::string sound) : sound(std::move(sound)) {}
  std::string name() const override { return "Dog"; }
  std::string what() const override { return sound; }
};
struct PyDog : Dog {
  FFI_HPY_TRAMPOLINE(Dog);
  std::string name() const override { FFI_HPY_OVERRIDE(name); }
  std::string what() const override { FFI_HPY_OVERRIDE(what); }
};
struct Cat : Animal {
  std::string what() const override { return "meow"; }
};

void print_name(const Animal &a) {
  try {
    std::printf("%s\n", a.name().c_str());
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
  }
}

const Animal *last = nullptr; // an animal that C++ uses when the process exits

void keep_last(const nb::object &self) {
  (void)new nb::object(self); /* it stays alive */
  last = nb::cast<const Animal *>(self);
}

void define_trampolines(nb::module_ &m) {
  nb::class_<Animal, PyAnimal>(m, "Animal")
      .def(nb::init<>())
      .def("name", &Animal::name)
      .def("what", &Animal::what)
      .def("plus", &Animal::add, "a"_a, "b"_a)
      .def("twice", &Animal::twice);
  nb::class_<Dog, PyDog, Animal>(m, "Dog").def(nb::init<std::string>());
  nb::class_<Cat, Animal>(m, "Cat").def(nb::init<>());
  m.def("go", [](const Animal &a) { return a.name() + " says " + a.what(); });
  m.def("name_of", [](const Animal &a) { return a.name(); });
  m.def("twice", [](Animal &a, int x) { return a.twice(x); });
  m.def("add", [](Animal &a, int x, int y) { return a.add(x, y); });
  m.def("last_words", [] { return std::exchange(last_words, ""); });
  m.def("use_at_exit", [](const nb::object &self) {
    keep_last(self);
    std::atexit([] { print_name(*last); });
  });
  m.def("use_at_exit_on_thread", [](const nb::object &self) {
    keep_last(self);
    std::atexit([] { std::thread([] { print_name(*last); }).join(); });
  });
  m.def("self_of", [](Animal &a) { return a.self(); });
  m.def(
      "go_on_thread",
      [](const Animal &a) {
        std::string text;
        std::thread([&] { text = a.name(); }).join();
        return text;
      },
      nb::call_guard<nb::gil_scoped_release>());
}

} // namespace

FFI_HPY_MODULE(bound_classes, m) { define_trampolines(m); }
