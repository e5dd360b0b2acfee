"""Values of Python's standard library for bound libraries: complex, timedelta, datetime, Path."""

from __future__ import annotations

import os

from .._containers.sequence import Array
from .._values.standard import (
    complex_parts,
    datetime_of,
    microseconds_of_datetime,
    microseconds_of_timedelta,
    path_of,
    timedelta_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["OPERATIONS"]


def _complex_parts(value: Any, may_convert: bool) -> Array[float] | None:
    """Return the two parts of a number, as a native value; None for another value."""
    try:
        parts = complex_parts(value) if may_convert or type(value) is complex else None
    except OverflowError:
        return None
    return None if parts is None else Array(parts)


def _since_epoch(value: Any) -> int | None:
    """Return the microseconds of a moment; None for another value, and for a year that the system does not know."""
    try:
        return microseconds_of_datetime(value)
    except OverflowError:
        return None


def _path_bytes(value: Any) -> bytes | None:
    """Return the name of a file as the system has it; None for a value that is not a name."""
    return os.fsencode(value) if isinstance(value, (str, bytes, os.PathLike)) else None


OPERATIONS: dict[str, Callable[..., Any]] = {
    "complex": complex,
    "complex_parts": _complex_parts,
    "microseconds": microseconds_of_timedelta,
    "timedelta": timedelta_of,
    "since_epoch": _since_epoch,
    "datetime": datetime_of,
    "path_bytes": _path_bytes,
    "path": path_of,
}
