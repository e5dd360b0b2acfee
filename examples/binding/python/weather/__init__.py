"""Sensors, stations, and maps of temperatures: a plain C++ library for every Python."""

import ffi_hpy as _  # noqa: F401 - PyPy finds the module after this import

from ._core import (
    BrokenSensor,
    Place,
    Reading,
    Report,
    Sensor,
    Series,
    Station,
    Thermometer,
    Unit,
    Warning,
    at,
    by_hour,
    distance,
    extremes,
    first_frost,
    mean,
    row_means,
    units,
    warm,
    warnings,
)

__all__ = [
    "BrokenSensor",
    "Place",
    "Reading",
    "Report",
    "Sensor",
    "Series",
    "Station",
    "Thermometer",
    "Unit",
    "Warning",
    "at",
    "by_hour",
    "distance",
    "extremes",
    "first_frost",
    "mean",
    "row_means",
    "units",
    "warm",
    "warnings",
]
