"""Classes of single values: numbers and strings, whatever other protocols they have."""

from __future__ import annotations

import sys

__all__ = ["is_single"]

_BUILTIN = (int, float, complex, str, bytes)


def is_single(cls: type) -> bool:
    """Whether each instance of a class is one number or one string, and so is not an array even if the class has
    `__dlpack__`. The scalars of NumPy are such classes."""
    numbers = sys.modules.get("numbers")  # a class can be registered only with an imported module
    if issubclass(cls, (*_BUILTIN, getattr(numbers, "Number", complex))):
        return True
    return any(base.__name__ == "generic" and base.__module__ == "numpy" for base in cls.__mro__)
