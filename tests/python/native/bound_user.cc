/* A library that is bound with ffi_hpy/bind.h: the module `bound_user`. bound_maker.cc binds its types. */
#include "bound_shared.h"

#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
using namespace nb::literals;
using namespace bound_shared;

FFI_HPY_MODULE(bound_user, m) {
  m.def("name_of", [](const Ship &ship) { return ship.name; });
  m.def("same", [](Ship *ship) { return ship; });
  m.def("build", [](std::string name) { return Ship{std::move(name), 9, {1}}; });
  m.def("shared", [](std::shared_ptr<Ship> ship) {
    ship->crew += 1;
    return ship;
  });
  m.def("sail", [](Sail sail) { return sail; }, "sail"_a = Sail::lateen);
  m.def("flag", [](Flag flag) { return flag; });
  m.def("port", [](Port port) { return static_cast<int>(port); });
  m.def("all_ports", [] { return std::vector<Port>{Port::lisbon, Port::bergen}; });
  m.def("run_aground", [] { throw Aground("too shallow"); });
  m.def("run_aground_at_night", [] {
    try {
      throw std::invalid_argument("no lamp");
    } catch (...) {
      std::throw_with_nested(Aground("too dark"));
    }
  });
  m.def("total", [](const std::vector<const Ship *> &ships) {
    int total = 0;
    for (const Ship *ship : ships) total += ship->crew;
    return total;
  });
}
