/* A library that is bound with ffi_hpy/bind.h: the module `bound_maker`. Other libraries use its classes. */
#include "bound_shared.h"

#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>

#include <stdexcept>

namespace nb = ffi_hpy;
using namespace nb::literals;
using namespace bound_shared;

namespace {

/* The state is any object of Python. */
struct Noted {
  nb::object state;
};
/* Python can read its state, and cannot set it. */
struct OneWay {};

} // namespace

FFI_HPY_MODULE(bound_maker, m) {
  using State = std::tuple<std::string, int, std::vector<int>>;
  nb::class_<Ship>(m, "Ship")
      .def(
          "__init__", [](Ship *self, std::string name, int crew) { new (self) Ship{std::move(name), crew, {}}; },
          "name"_a, "crew"_a = 1)
      .def_ro("name", &Ship::name)
      .def_prop_rw(
          "crew", [](const Ship &ship) { return ship.crew; },
          [](Ship &ship, int crew) {
            if (crew < 0) throw std::invalid_argument("a negative crew");
            ship.crew = crew;
          })
      .def_rw("decks", &Ship::decks)
      .def_prop_ro("crews", [](const Ship &ship) { return std::set<int>{ship.crew}; })
      .def_prop_ro("pair", [](const Ship &ship) { return std::make_pair(ship.name, ship.crew); })
      .def_prop_ro("books", [](const Ship &ship) { return std::map<std::string, int>{{ship.name, ship.crew}}; })
      .def("renamed", [](const Ship &ship, const std::string &name) { return Ship{name, ship.crew, ship.decks}; })
      .def("texts", [](const Ship &ship) { return std::vector<std::string>{ship.name, "ship"}; })
      .def("table", [](const Ship &ship) { return std::map<std::string, int>{{ship.name, ship.crew}}; })
      .def("__getstate__", [](const Ship &ship) { return State(ship.name, ship.crew, ship.decks); })
      .def("__setstate__", [](Ship &ship, const State &state) {
        if (std::get<1>(state) < 0) throw std::invalid_argument("a negative crew");
        new (&ship) Ship{std::get<0>(state), std::get<1>(state), std::get<2>(state)};
      });
  nb::class_<Noted>(m, "Noted")
      .def("__init__", [](Noted *self, nb::object state) { new (self) Noted{std::move(state)}; })
      .def("__getstate__", [](const Noted &noted) { return noted.state; })
      .def("__setstate__", [](Noted &noted, nb::object state) { new (&noted) Noted{std::move(state)}; });
  nb::enum_<Sail>(m, "Sail").value("square", Sail::square).value("lateen", Sail::lateen);
  nb::enum_<Flag>(m, "Flag", nb::is_flag()).value("red", Flag::red).value("blue", Flag::blue);
  nb::enum_<Port>(m, "Port", nb::is_str())
      .str_value("bergen", Port::bergen, "BGO")
      .str_value("lisbon", Port::lisbon, "LIS");
  nb::exception<Aground>(m, "Aground", "ValueError");
  m.def("numbers", [] { return std::vector<int>{1, 2}; });
  m.def("nothing", [] { return std::vector<int>(); });
  m.def("triple", [] { return std::make_tuple(1, std::string("a text of many letters"), std::vector<int>{3}); });
  m.def("few", [] { return std::set<int>{5}; });
  m.def("table", [] { return std::map<std::string, std::vector<std::pair<int, int>>>{{"a", {{1, 2}}}, {"b", {}}}; });
  m.def("perhaps", [] { return std::optional(std::vector<int>{7}); });
  m.def("kept", [kept = nb::cast(std::vector<std::vector<int>>{{1}, {2}})] { return kept; });
  m.def("maker", [] { return std::function<std::vector<int>()>([] { return std::vector<int>{8}; }); });
  m.def("sum_of", [](const std::function<std::vector<int>()> &make) {
    int sum = 0;
    for (int each : make()) sum += each;
    return sum;
  });
  nb::class_<OneWay>(m, "OneWay").def(nb::init<>()).def("__getstate__", [](const OneWay &) { return 1; });
}
