"""Classes of single values, numbers and strings, whatever other protocols they have; and names of classes."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["class_name", "defines", "float_of", "has_imaginary_part", "is_nan", "is_single", "is_time"]

_BUILTIN = (int, float, complex, str, bytes)


def class_name(cls: type) -> str:
    """Return the qualified name of a class, with the module unless the module is builtins."""
    try:
        module: str | None = cls.__module__
    except Exception:  # a property of a metaclass
        module = None
    return f"{module}.{cls.__qualname__}" if module not in ("builtins", None) else cls.__qualname__


def defines(cls: type, *methods: str) -> bool:
    """Whether instances of a class have these methods. hasattr() would find methods of the metaclass, too."""
    return all(any(method in base.__dict__ for base in cls.__mro__) for method in methods)


def is_single(cls: type) -> bool:
    """Whether each instance of a class is one number or one string, and therefore not an array, even if the class has
    `__dlpack__`. The scalars of NumPy are such classes."""
    numbers = sys.modules.get("numbers")  # a class can be registered only with an imported module
    if issubclass(cls, (*_BUILTIN, getattr(numbers, "Number", complex))):
        return True
    return any(base.__name__ == "generic" and base.__module__ == "numpy" for base in cls.__mro__)


def is_time(cls: type) -> bool:
    """Whether a class is one of NumPy's for times. An instance has a unit, so it is not a number, although NumPy
    registers timedelta64 as an integer class and both classes have `__float__`."""
    numpy = sys.modules.get("numpy")
    return issubclass(cls, (getattr(numpy, "timedelta64", ()), getattr(numpy, "datetime64", ())))


def is_nan(value: Any) -> bool:
    """Whether a value is a number that differs from itself. No other value is asked to compare itself."""
    numbers = sys.modules.get("numbers")  # a class can be registered only with an imported module
    return isinstance(value, (float, complex, getattr(numbers, "Number", float))) and bool(value != value)


def float_of(value: Any) -> float:
    """Return the float of a number. OverflowError for a finite number whose float is infinite, such as a Decimal."""
    number = float(value)
    if number in (float("inf"), float("-inf")) and value != number:
        numbers = sys.modules.get("numbers")
        if isinstance(value, getattr(numbers, "Number", ())):  # another class need not know how to compare
            raise OverflowError(f"{value!s}, which is outside the range of a float")
    return number


def has_imaginary_part(value: Any) -> bool:
    """Whether a value is a complex number: float() drops the imaginary part of a complex number of NumPy."""
    numbers = sys.modules.get("numbers")
    return isinstance(value, getattr(numbers, "Complex", complex)) and not isinstance(
        value, getattr(numbers, "Real", ())
    )
