/* A library that is bound with ffi_hpy/bind.h: the module `bound_holders`. Values that move between C++ and Python. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/vector.h>

#include <memory>

namespace nb = ffi_hpy;

namespace {

struct Front {
  virtual ~Front() = default;
  int front = 1;
};
struct Base {
  int value;
  static inline int n_alive = 0;
  explicit Base(int value) : value(value) { ++n_alive; }
  virtual ~Base() { --n_alive; }
};
struct Derived : Front, Base { /* its base is not at the beginning */
  explicit Derived(int value) : Base(value) {}
};
using Own = std::unique_ptr<Base, nb::deleter<Base>>;
struct Box {
  std::unique_ptr<Base> inside;
};
struct OwnBox {
  Own inside;
};

} // namespace

FFI_HPY_MODULE(bound_holders, m) {
  nb::class_<Base>(m, "Base").def(nb::init<int>()).def_rw("value", &Base::value);
  nb::class_<Derived, Base>(m, "Derived").def(nb::init<int>());
  nb::class_<Box>(m, "Box")
      .def("__init__", [](Box *self, std::unique_ptr<Base> base) { new (self) Box{std::move(base)}; })
      .def("get", [](Box &self) { return std::move(self.inside); });
  nb::class_<OwnBox>(m, "OwnBox")
      .def("__init__", [](OwnBox *self, Own base) { new (self) OwnBox{std::move(base)}; })
      .def("get", [](OwnBox &self) { return std::move(self.inside); });
  m.def("alive", [] { return Base::n_alive; });
  m.def("make", [](int value) { return std::make_unique<Base>(value); });
  m.def("make_derived", [](int value) { return std::unique_ptr<Base>(new Derived(value)); });
  m.def("pass", [](std::unique_ptr<Base> base) { return base; }, nb::arg().none());
  m.def("pass_own", [](Own base) { return base; });
  m.def("drop", [](std::unique_ptr<Base>) {});
  m.def("pass_pairs", [](std::vector<std::pair<std::unique_ptr<Base>, std::unique_ptr<Base>>> all) { return all; });
}
