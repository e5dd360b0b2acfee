/* binding.cc - the module weather._core. */
#include "weather.h"

#include <ffi_hpy/bind.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

namespace nb = ffi_hpy;
using namespace nb::literals;
using namespace weather;

struct PySensor : Sensor {
  FFI_HPY_TRAMPOLINE(Sensor, 2);
  double measure(int hour) const override { FFI_HPY_OVERRIDE_PURE(measure, hour); }
  std::string kind() const override { FFI_HPY_OVERRIDE(kind); }
};
using Grid = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstGrid = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Means = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
FFI_HPY_MAKE_OPAQUE(Series);

FFI_HPY_MODULE(_core, m) {
  m.doc() = "Sensors, stations, and maps of temperatures.";
  nb::exception<BrokenSensor>(m, "BrokenSensor", "RuntimeError");
  nb::enum_<Unit>(m, "Unit", "A unit of temperatures.")
      .value("celsius", Unit::celsius)
      .value("fahrenheit", Unit::fahrenheit)
      .value("kelvin", Unit::kelvin, "From 0.");
  nb::enum_<Warning>(m, "Warning", nb::is_flag())
      .value("frost", Warning::frost)
      .value("heat", Warning::heat)
      .value("storm", Warning::storm);

  nb::class_<Place>(m, "Place", "A place on the map.")
      .def(nb::init<double, double, std::string>(), "x"_a = 0, "y"_a = 0, "name"_a = "")
      .def(nb::init_implicit<std::string>(), "name"_a)
      .def_rw("x", &Place::x)
      .def_rw("y", &Place::y)
      .def_rw("name", &Place::name)
      .def(nb::self == nb::self)
      .def(nb::self + nb::self)
      .def(nb::self * double())
      .def(-nb::self)
      .def("__repr__", [](const Place &p) { return nb::str("Place({}, {}, {!r})").format(p.x, p.y, p.name); })
      .def("__getstate__", [](const Place &p) { return std::make_tuple(p.x, p.y, p.name); })
      .def("__setstate__", [](Place &p, const std::tuple<double, double, std::string> &state) {
        new (&p) Place(std::get<0>(state), std::get<1>(state), std::get<2>(state));
      });
  nb::class_<Reading>(m, "Reading", "One value at one hour of the day.")
      .def(nb::init<int, double>(), "hour"_a, "celsius"_a)
      .def_rw("hour", &Reading::hour)
      .def_rw("celsius", &Reading::celsius)
      .def(nb::self == nb::self);
  nb::bind_vector<Series>(m, "Series");

  nb::class_<Sensor, PySensor>(m, "Sensor", "Measures temperatures. Derived classes override `measure`.")
      .def(nb::init<std::string, double>(), "name"_a, "offset"_a = 0.0)
      .def("measure", &Sensor::measure, "The temperature of an hour.", "hour"_a)
      .def("kind", &Sensor::kind)
      .def_rw("name", &Sensor::name)
      .def_rw("tags", &Sensor::tags)
      .def_rw("limits", &Sensor::limits)
      .def_rw("place", &Sensor::place, "Where it is, if that is known.")
      .def_prop_rw("offset", &Sensor::offset, &Sensor::set_offset, "Added to each value: at most 5 degrees.");
  nb::class_<Thermometer, Sensor>(m, "Thermometer")
      .def(nb::init<std::string, std::vector<double>, double>(), "name"_a, "celsius"_a = std::vector<double>(24),
           "offset"_a = 0.0)
      .def_static("constant", &Thermometer::constant, "A thermometer that always shows the same.", "celsius"_a);
  nb::class_<Station>(m, "Station", "Sensors that belong together.")
      .def(nb::init<Place>(), "place"_a)
      .def_rw("place", &Station::place)
      .def("add", &Station::add, "sensor"_a)
      .def("find", &Station::find, "name"_a)
      .def("__len__", [](const Station &station) { return station.sensors().size(); })
      .def(
          "__iter__",
          [](const Station &station) {
            return nb::make_iterator(nb::type<Station>(), "Iterator", station.sensors().begin(),
                                     station.sensors().end());
          },
          nb::keep_alive<0, 1>())
      .def("measure", &Station::measure, "The means of some hours.", "hours"_a = std::vector<int>{0, 12})
      .def("watch", &Station::watch, nb::call_guard<nb::gil_scoped_release>(), "hours"_a, "report"_a,
           "Calls `report(hour, mean)` on another thread.");
  nb::class_<Report>(m, "Report", "Describes a station.")
      .def(nb::init<const Station &, Unit>(), "station"_a, "unit"_a = Unit::celsius, nb::keep_alive<1, 2>())
      .def("line", &Report::line, "hour"_a);

  m.def("mean", nb::overload_cast<const Series &, std::optional<int>>(&mean), "series"_a, "until"_a = nb::none(),
        "The mean, of all hours or until one of them.");
  m.def("mean", nb::overload_cast<const std::vector<double> &, Unit>(&mean), "celsius"_a, "unit"_a = Unit::celsius);
  m.def("warnings", &warnings, "series"_a).def("extremes", &extremes, "Lowest, highest, and its hour.", "series"_a);
  m.def("at", &at, "series"_a, "hour"_a)
      .def("by_hour", &by_hour, "series"_a)
      .def("first_frost", &first_frost, "series"_a);
  m.def("distance", [](const Place &here, const Place &there) { return (there + -here).x; }, "here"_a, "there"_a);
  m.def(
      "warm", [](Grid grid, double by) { warm(grid.data(), grid.shape(0), grid.shape(1), by); }, "grid"_a.noconvert(),
      "by"_a = 1.0, "Adds to each value, in place.");
  m.def(
      "row_means",
      [](ConstGrid grid) {
        auto *means = new double[grid.shape(0)];
        nb::capsule owner(means, [](void *p) noexcept { delete[] static_cast<double *>(p); });
        row_means(grid.data(), grid.shape(0), grid.shape(1), means);
        return Means(means, {grid.shape(0)}, owner);
      },
      "grid"_a);

  nb::module_ units = m.def_submodule("units", "Conversion of units.");
  units.def("convert", &convert, "celsius"_a, "unit"_a).def("parse", &parse, "text"_a);
}
