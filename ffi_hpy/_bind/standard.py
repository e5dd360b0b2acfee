"""Values of Python's standard library for bound libraries: complex, timedelta, datetime, Path."""

from __future__ import annotations

import datetime
import os

from .._containers.sequence import Array
from .._values.standard import microseconds_of_datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

__all__ = ["OPERATIONS"]

_MICROSECOND = datetime.timedelta(microseconds=1)


def _complex_parts(value: Any, may_convert: bool) -> Array[float] | None:
    """Return the two parts of a number; None for another value."""
    if type(value) is not complex:
        if not may_convert or isinstance(value, (str, bytes)):
            return None
        try:
            value = complex(value)
        except (TypeError, ValueError, OverflowError):
            return None
    return Array([value.real, value.imag])


def _microseconds(value: Any) -> int | None:
    """Return the length of a timedelta; None for another value."""
    return value // _MICROSECOND if isinstance(value, datetime.timedelta) else None


def _since_epoch(value: Any) -> int | None:
    """Return the microseconds of a moment; None for another value, and for a year that the system does not know."""
    try:
        return microseconds_of_datetime(value)
    except (ValueError, OverflowError, OSError):
        return None


def _datetime(microseconds: int) -> datetime.datetime:
    """Return the local time."""
    seconds, part = divmod(microseconds, 1_000_000)
    return datetime.datetime.fromtimestamp(seconds).replace(microsecond=part)


def _path_bytes(value: Any) -> bytes | None:
    """Return the name of a file as the system has it; None for a value that is not a name."""
    return os.fsencode(value) if isinstance(value, (str, bytes, os.PathLike)) else None


def _path(name: bytes) -> Path:
    from pathlib import Path

    return Path(os.fsdecode(name))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "complex": complex,
    "complex_parts": _complex_parts,
    "microseconds": _microseconds,
    "timedelta": lambda n: datetime.timedelta(microseconds=n),
    "since_epoch": _since_epoch,
    "datetime": _datetime,
    "path_bytes": _path_bytes,
    "path": _path,
}
