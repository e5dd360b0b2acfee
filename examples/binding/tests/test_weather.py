"""Tests of the installed package, which mypy --strict accepts."""

from __future__ import annotations

import copy
import pickle
import sys
from array import array
from typing import Any, Callable

import pytest
import weather
from weather import Place, Reading, Report, Sensor, Series, Station, Thermometer, Unit, Warning

DAY = [float(hour) for hour in range(24)]


class Probe(Sensor):
    """A sensor in Python."""

    def __init__(self, name: str, measure: Callable[[int], float]) -> None:
        super().__init__(name)
        self.rule = measure

    def measure(self, hour: int) -> float:
        return self.rule(hour)

    def kind(self) -> str:
        return f"{super().kind()} of Python"


@pytest.fixture
def station() -> Station:
    made = Station(Place(name="Rome"))
    made.add(Thermometer("roof", DAY))
    return made


# --- classes ------------------------------------------------------------------------------------------------------


def test_constructors_have_names_and_defaults() -> None:
    assert Thermometer("roof").measure(3) == 0
    assert Thermometer(celsius=DAY, name="roof", offset=0.5).measure(3) == 3.5
    with pytest.raises(TypeError, match="incompatible function arguments"):
        Thermometer("roof", ["warm"])  # type: ignore[list-item]


def test_fields_are_python_values() -> None:
    sensor = Thermometer("roof")
    sensor.tags, sensor.limits = ("a", "b"), {"low": -5}
    assert (sensor.tags, sensor.limits, sensor.place) == (["a", "b"], {"low": -5.0}, None)
    sensor.place = Place(1, 2)
    assert sensor.place == Place(1, 2)
    with pytest.raises(TypeError):
        sensor.name = 1  # type: ignore[assignment]


def test_a_property_checks_its_values() -> None:
    sensor = Thermometer.constant(20)
    sensor.offset = 1.5
    assert sensor.measure(0) == 21.5
    with pytest.raises(ValueError, match="between -5 and 5"):
        sensor.offset = 6
    assert sensor.offset == 1.5


def test_operators() -> None:
    assert Place(1, 2, "a") + Place(3, 4, "b") == Place(4, 6, "a")
    assert -Place(1, 2) * 3 == Place(-3, -6)
    assert Place(1, 2) != Place(2, 1)
    assert repr(Place(1, 2, "a")) == "Place(1.0, 2.0, 'a')"
    with pytest.raises(TypeError, match="unsupported operand"):
        Place() + 1  # type: ignore[operator]


def test_places_are_copied_and_pickled() -> None:
    place = Place(1, 2, "Rome")
    for again in (copy.copy(place), copy.deepcopy(place), pickle.loads(pickle.dumps(place))):
        assert again == place
        assert again is not place


def test_texts_are_converted_to_places() -> None:
    assert Station("Rome").place == Place(name="Rome")  # type: ignore[arg-type]
    assert weather.distance("here", Place(3, 4)) == 3  # type: ignore[arg-type]


def test_python_overrides_virtual_functions(station: Station) -> None:
    station.add(Probe("probe", lambda hour: 100.0 - hour))
    assert [reading.celsius for reading in station.measure([0, 10])] == [50, 50]
    found = station.find("probe")
    assert isinstance(found, Probe)
    assert (found.kind(), found.rule(1)) == ("sensor of Python", 99)
    station.add(Sensor("nothing"))
    with pytest.raises(RuntimeError, match="measure"):
        station.measure()


def test_a_station_shares_its_sensors(station: Station) -> None:
    sensor = Thermometer.constant(1)
    station.add(sensor)
    assert len(station) == 2
    assert list(station)[1] is sensor
    assert station.find("constant") is sensor
    assert station.find("cellar") is None
    iterator = iter(station)
    del station, sensor
    assert [each.name for each in iterator] == ["roof", "constant"]


def test_a_report_keeps_its_station() -> None:
    station = Station(Place(name="Oslo"))
    station.add(Thermometer("roof", DAY))
    report = Report(station, unit=Unit.kelvin)
    del station
    assert report.line(hour=5) == "Oslo: 278"


# --- values -------------------------------------------------------------------------------------------------------


def test_a_series_is_shared() -> None:
    series = Series([Reading(0, -1), Reading(hour=12, celsius=40)])
    series.append(Reading(23, 3))
    assert len(series) == 3
    assert series[-1] == Reading(23, 3)
    assert [reading.hour for reading in series] == [0, 12, 23]
    with pytest.raises(IndexError):
        series[3]
    assert weather.extremes(series) == (-1.0, 40.0, 12)
    assert (weather.at(series, 12), weather.at(series, 13)) == (40.0, "not measured")
    assert weather.by_hour(series) == {0: -1.0, 12: 40.0, 23: 3.0}
    assert weather.first_frost(series) == Reading(0, -1)
    assert weather.first_frost(Series([Reading(0, 1)])) is None
    with pytest.raises(IndexError):
        weather.extremes(Series())


def test_overloads() -> None:
    series = Series([Reading(0, 1), Reading(12, 5)])
    assert (weather.mean(series), weather.mean(series, until=3)) == (3, 1)
    assert (weather.mean([1, 5]), weather.mean((1, 5), Unit.kelvin)) == (3, 276.15)
    with pytest.raises(TypeError, match=r"1\. mean(.|\n)*2\. mean"):
        weather.mean(5)  # type: ignore[call-overload]


def test_enums_and_flags() -> None:
    series = Series([Reading(0, -1), Reading(12, 40)])
    assert weather.warnings(series) == Warning.frost | Warning.heat
    assert weather.warnings(series) & Warning.storm == Warning(0)
    assert weather.units.convert(10, Unit.fahrenheit) == 50
    assert [unit.name for unit in Unit] == ["celsius", "fahrenheit", "kelvin"]
    with pytest.raises(TypeError):
        weather.units.convert(10, "kelvin")  # type: ignore[arg-type]


def test_a_submodule() -> None:
    assert weather.units.parse("12 degrees") == (12, " degrees")
    with pytest.raises(ValueError, match="stoi"):
        weather.units.parse("degrees")


def test_exceptions(station: Station) -> None:
    station.add(Thermometer("cellar", []))
    with pytest.raises(weather.BrokenSensor, match="cellar shows nothing"):
        station.measure()
    with pytest.raises(IndexError):
        Thermometer("roof", [1]).measure(5)


def test_callbacks_run_on_another_thread(station: Station) -> None:
    seen: dict[int, float] = {}
    station.watch([1, 2], seen.__setitem__)
    assert seen == {1: 1.0, 2: 2.0}

    def fail(hour: int, celsius: float) -> None:
        raise LookupError(f"at {hour}")

    with pytest.raises(LookupError, match="at 3"):
        station.watch(range(3, 5), fail)


# --- arrays -------------------------------------------------------------------------------------------------------


def test_a_buffer_is_changed_in_place() -> None:
    numbers = array("d", [1, 2, 3, 4, 5, 6])
    weather.warm(memoryview(numbers).cast("B").cast("d", (2, 3)), by=2)
    assert numbers.tolist() == [3, 4, 5, 6, 7, 8]
    with pytest.raises(TypeError, match=r"shape=\(\*, \*\)"):
        weather.warm(numbers)


def test_numpy_arrays() -> None:
    numpy: Any = pytest.importorskip("numpy")
    grid = numpy.arange(6.0).reshape(2, 3)
    weather.warm(grid)
    means = weather.row_means(grid)
    assert (type(means), means.tolist()) == (numpy.ndarray, [2, 5])
    assert weather.row_means(grid.astype("int8").T).tolist() == [2.5, 3.5, 4.5]


# --- help ---------------------------------------------------------------------------------------------------------


def test_docstrings() -> None:
    assert "Sensors, stations" in (sys.modules["weather._core"].__doc__ or "")
    assert Place.__doc__ == "A place on the map."
    assert "at most 5 degrees" in (Sensor.offset.__doc__ or "")
    assert "The mean, of all hours or until one of them." in (weather.mean.__doc__ or "")
