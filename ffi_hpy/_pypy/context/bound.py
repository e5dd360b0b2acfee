"""Functions of bound libraries (ffi_hpy/bind.h): their first overload, which has a flag for borrowed arguments."""

from __future__ import annotations

from .backend import ints_at, words_at
from .numbers import BIND_BORROWS, BIND_FIRST_OVERLOAD

__all__ = ["borrows", "first_overload", "set_callee"]

_CODE = 3
"""The word of a function's safe_call behind its handle."""
_callee = 0
"""The address of the code of each function of a bound library; 0 until the first library is imported."""


def set_callee(address: int) -> None:
    """Register the address of the code of each function of a bound library."""
    global _callee
    _callee = address


def first_overload(function: int) -> int:
    """Return the address of the first overload of a bound library's function, 0 for another function."""
    words = words_at(function)
    first: int = words[BIND_FIRST_OVERLOAD] if words[_CODE] == _callee else 0
    return first


def borrows(first: int) -> bool:
    """Return whether the function with this first overload borrows its arguments: it uses none of them after a call. A
    further overload may change the answer."""
    return bool(ints_at(first)[BIND_BORROWS])
