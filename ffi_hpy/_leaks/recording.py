"""Records each native object that gets a wrapper, with the line of the program that made it.

A record has the object's pointer as its key, and a weak native reference, which keeps the memory of the header: a
pointer in the table never points to another object. Records of destroyed objects are removed now and then.
"""

from __future__ import annotations

import sys
from threading import get_ident
from typing import NamedTuple

from .._hooks import record_objects
from .._start.fork import at_fork_in_child, new_lock
from .._values.function import native_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

__all__ = ["Record", "begin", "find_alive", "is_recording", "records", "reporting"]

_PACKAGE = (__package__ or "").rpartition(".")[0]
_FOLDER = __file__.rpartition("_leaks")[0]
_DEFINERS = frozenset(
    (
        "<module>",
        "_add_class_attrs",
        "_bind",
        "_new_table",
        "_register_fields",
        "_register_py_methods",
        "load_module",
        "methods",
        "system_lib",
    )
)
_KEEPERS = tuple(f"{_PACKAGE}.{name}" for name in ("dataclasses.enum", "dataclasses._enum_entries", "_bind.importer"))
"""Functions and modules of the package that define types, make the entries of enums and load libraries. Objects that
they make live until the process ends. "<module>" is the body of a module."""
_FEWEST = 10_000  # the number of records at which the records of destroyed objects are removed


class Record(NamedTuple):
    """The record of an object."""

    line: str | None
    """The line of the program that made it."""
    is_on_purpose: bool
    """Whether the package keeps the object until the process ends."""


records: dict[int, Record] = {}
reporting: set[int] = set()
"""Threads whose objects are not recorded."""
_removing = new_lock()  # held while records are removed, and while weak references are taken to all objects
_limit = _FEWEST
_is_on = False
_weak_take, _weak_get, _weak_drop = map(native_function, ("weak_take", "weak_get", "weak_drop"))


def begin() -> None:
    """Begin to record objects."""
    global _is_on
    _is_on = True
    record_objects(_note)
    at_fork_in_child(records.clear)  # a child reports its own objects


def is_recording() -> bool:
    """Whether objects are recorded."""
    return _is_on


def find_alive() -> Iterator[Any]:
    """Yield the wrapper of each recorded object that is alive; it is made if there is none."""
    with _removing:
        addresses = list(records)
        for address in addresses:
            _weak_take(address)
    for address in addresses:
        wrapper = _weak_get(address)
        _weak_drop(address, True)
        if wrapper is not None:
            yield wrapper


def _note(address: int) -> None:
    """Record an object (hook object_made)."""
    if get_ident() in reporting or address in records or not _weak_take(address):
        return
    made = Record(*_find_line(sys._getframe().f_back))
    if records.setdefault(address, made) is not made:  # another thread records the object
        _weak_drop(address, True)
    if len(records) >= _limit:
        _forget_destroyed()


def _find_line(frame: FrameType | None) -> tuple[str | None, bool]:
    """Return the line of the program that runs, and whether the package keeps the objects that it makes now."""
    is_on_purpose = False
    while frame is not None:
        module, code = frame.f_globals.get("__name__") or "", frame.f_code
        is_own = module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
        # without a GIL, a class has copies of the package's functions that belong to the module of the class
        if not is_own and not code.co_filename.startswith(_FOLDER):
            return f"{code.co_filename}:{frame.f_lineno} in {code.co_name}", is_on_purpose
        if code.co_name in _DEFINERS or module in _KEEPERS:
            is_on_purpose = True
        frame = frame.f_back
    return None, is_on_purpose


def _forget_destroyed() -> None:
    """Remove the records of destroyed objects, and their memory."""
    global _limit
    if not _removing.acquire(blocking=False):
        return
    _limit = sys.maxsize
    try:
        for address in list(records):
            known = records.pop(address, None)
            # Between the two steps another thread may record the object, which then has two weak references.
            if known is not None and not _weak_drop(address, False) and records.setdefault(address, known) is not known:
                _weak_drop(address, True)
    finally:
        _limit = max(_FEWEST, 2 * len(records))
        _removing.release()
