"""The elements of a NumPy array as Python's values, for parameters that take sequences."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["elements_of", "is_swapped", "without_mask"]

_MOST_BYTES = 8  # of a floating-point number that Python's float holds


def is_swapped(array: Any) -> bool:
    """Whether the elements of a NumPy array have the other byte order than the machine."""
    return getattr(getattr(array, "dtype", None), "isnative", True) is False


def without_mask(array: Any) -> Any:
    """Return the plain array of a masked one of which no element is masked, and any other array itself. ValueError if
    an element is masked: native code would take the number behind the mask for a value."""
    masked = sys.modules.get("numpy.ma")
    if masked is None or not isinstance(array, masked.MaskedArray):
        return array
    if masked.is_masked(array):
        raise ValueError("the array has masked elements: pass array.filled(value) or array.compressed()")
    return array.data


def elements_of(array: Any) -> list[Any] | None:
    """Return the elements as values of Python, in a list for each axis; None for elements that Python has no class for.

    OverflowError for a number that a float cannot hold, ValueError for a masked element.
    """
    array = without_mask(array)
    dtype = array.dtype
    if dtype.kind in "biucOUTS" or (dtype.kind == "f" and dtype.itemsize <= _MOST_BYTES):
        found: list[Any] = array.tolist()
        return found
    if dtype.kind in "mM":  # of some units, such as nanoseconds, tolist() returns numbers without the unit
        example = sys.modules["numpy"].zeros((), dtype).item()
        return None if isinstance(example, int) else array.tolist()
    if dtype.kind == "f":
        return _narrowed(array)
    if dtype.kind != "V" or dtype.names is not None:
        return None
    try:  # a type of ml_dtypes
        found = array.astype("int64" if dtype.name.lstrip("u").startswith("int") else "float64").tolist()
    except (TypeError, ValueError):
        return None
    return found


def _narrowed(array: Any) -> list[Any]:
    """Return the floats nearest to the elements of a wider type."""
    numpy: Any = sys.modules["numpy"]
    with numpy.errstate(over="ignore"):
        narrow = array.astype("float64")
    lost = numpy.isinf(narrow) & ~numpy.isinf(array)
    if lost.any():
        number = array[lost].ravel()[0] if array.ndim else array[()]
        raise OverflowError(f"{number!s}, which is outside the range of a float")
    found: list[Any] = narrow.tolist()
    return found
