/* A library that is bound with ffi_hpy/bind.h: the module `bound_user`. Its class Ship is bound by bound_maker.cc. */
#include "bound_shared.h"

#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
using bound_shared::Ship;

FFI_HPY_MODULE(bound_user, m) {
  m.def("name_of", [](const Ship &ship) { return ship.name; });
  m.def("same", [](Ship *ship) { return ship; });
  m.def("build", [](std::string name) { return Ship{std::move(name), 9, {1}}; });
  m.def("shared", [](std::shared_ptr<Ship> ship) {
    ship->crew += 1;
    return ship;
  });
  m.def("total", [](const std::vector<const Ship *> &ships) {
    int total = 0;
    for (const Ship *ship : ships) total += ship->crew;
    return total;
  });
}
