"""Methods of C++ classes that Python classes override (include/tvm/ffi/extra/overrides.h).

A C++ class declares overridable methods. Each Python class below the registered class of the type has one native table,
which marks the methods that the class overrides; the objects of the class share it. C++ code reads the mark and calls a
Function that calls the method by its name, so a method that is assigned to the class later needs its mark only. The
registered class itself overrides nothing: its objects may come from C++, which knows no Python class of theirs.

A class of C++ that is bound by `ffi_hpy/bind.h` declares no methods. The trampoline asks whether a Python class
overrides a name, and keeps the answer in a table of the class until `forget` removes all answers.

The registry imports this module for the first type with overridable methods.
"""

from __future__ import annotations

from sys import intern

from .. import _core
from .._start.fork import new_lock
from .._values.object import ObjectMeta, watched_names
from .info import info_of_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .._core import CObject, Function
    from .info import TypeInfo

__all__ = ["caller_of_override", "watch", "watch_trampoline"]

_ATTRIBUTE = "__ffi_overrides__"
"""The type attribute: functions that make a table, set a mark, and give an object its table. And the attribute of a
Python class: its tables by type index."""

_lock = new_lock()
_callers: dict[str, Function] = {}


def _lineage(info: TypeInfo) -> list[TypeInfo]:
    """Return a type and its ancestors, the nearest first."""
    return [info, *map(info_of_index, reversed(info.type_ancestors))]


def watch(info: TypeInfo) -> None:
    """Let instances of Python classes below the class of this type override its overridable methods."""
    _watch_names(["__bases__", *(method.name for method in info.methods if method.metadata.get("overridable"))])


def _watch_names(names: list[str]) -> None:
    for name in names:
        watchers = watched_names.get(name, ())
        if _refresh not in watchers:
            watched_names[name] = (*watchers, _refresh)
    _core.set_hooks(subclass_made=_connect)


def _caller_of(name: str) -> Function:
    """Return the native function that calls a method of its first argument."""
    found = _callers.get(name)
    return _callers.setdefault(name, _new_caller(intern(name))) if found is None else found


def _call_in_python(name: str) -> Function:
    def call(self: Any, *args: Any) -> Any:
        return getattr(self, name)(*args)

    return _core.function_from_callable(call)


_new_caller: Callable[[str], Function] = getattr(_core, "function_from_method_name", _call_in_python)


def _bases_in_python(cls: type) -> Iterator[type]:
    """Iterate over a Python class and its bases up to the registered class."""
    for base in cls.__mro__:
        if "__tvm_ffi_type_info__" in base.__dict__:
            return
        yield base


def _overrides(cls: type, name: str) -> bool:
    """Whether a Python class, or a base below the registered class, defines a name. A base that is not an Object may
    get the name later without notice, so it counts as a base that defines the name."""
    return any(name in base.__dict__ or not isinstance(base, ObjectMeta) for base in _bases_in_python(cls))


class _Table:
    """The native table of a Python class for a type."""

    def __init__(self, cls: type, info: TypeInfo, functions: Any) -> None:
        make, self._mark, self.connect = functions
        lineage = _lineage(info)
        self._names = list(
            dict.fromkeys(
                method.name for each in lineage for method in each.methods if method.metadata.get("overridable")
            )
        )
        self.native = make(cls.__qualname__, self._names, list(map(_caller_of, self._names)))
        self.update(cls)

    def update(self, cls: type) -> None:
        """Set all marks. Another thread may change the class and set a mark at the same time, so the thread that sets a
        mark last looks at the class again."""
        for i, name in enumerate(self._names):
            marked: bool | None = None
            while marked is not (found := _overrides(cls, name)):
                marked = found
                self._mark(self.native, i, marked)


# --- trampolines ----------------------------------------------------------------------------------------------------


class _AnswerTable:
    """The native table of a Python class whose objects have a trampoline."""

    def __init__(self, make: Callable[[], Any], forget: Callable[[Any], None], connect: Callable[..., None]) -> None:
        self.native, self._forget, self.connect = make(), forget, connect

    def update(self, cls: type) -> None:
        """End all answers."""
        self._forget(self.native)


_trampolines: dict[int, Callable[[], _AnswerTable]] = {}
"""A function that makes a table, by the index of the type whose objects have a trampoline."""


def watch_trampoline(cls: type, make: Callable[[], Any], forget: Any, connect: Any) -> None:
    """Let instances of Python classes below a bound class override the methods that its trampoline looks up."""
    index = cls.__tvm_ffi_type_info__.type_index  # type: ignore[attr-defined]
    _trampolines[index] = lambda: _AnswerTable(make, forget, connect)
    _watch_names(["__bases__"])


def caller_of_override(obj: Any, name: str) -> Function | bool | None:
    """Return the native function that calls a method of its first argument, if the class of an object overrides the
    method; None otherwise. From now on a change of the method ends the answer. False if the class does not override the
    method now, but has a base that may get it without notice."""
    _watch_names([name])
    may_be_later = False
    for base in _bases_in_python(type(obj)):
        if name in base.__dict__:
            return _caller_of(name)
        may_be_later = may_be_later or not isinstance(base, ObjectMeta)
    return False if may_be_later else None


# --- objects --------------------------------------------------------------------------------------------------------


def _make_table(cls: type, info: TypeInfo) -> _Table | _AnswerTable | None:
    make = _trampolines.get(info.type_index)
    if make is not None:
        return make()
    functions = next(filter(None, (_core.type_attr(each.type_index, _ATTRIBUTE) for each in _lineage(info))), None)
    return None if functions is None else _Table(cls, info, functions)


def _new_table(cls: type, info: TypeInfo) -> _Table | _AnswerTable | None:
    """Make the table of a class; None if the type has no overridable methods."""
    table = _make_table(cls, info)
    with _lock:
        tables: dict[int, _Table | _AnswerTable | None] | None = cls.__dict__.get(_ATTRIBUTE)
        if tables is None:
            tables = {}
            type.__setattr__(cls, _ATTRIBUTE, tables)
    table = tables.setdefault(info.type_index, table)
    if table is not None:
        table.update(cls)  # again, because another thread may have changed the class before the table was found there
    return table


def _connect(obj: CObject) -> tuple[Any, Any] | bool | None:
    """Give a new object the table of its class: a hook of the binding. Return the function and the table, which are the
    same for all objects of the class; False without a table."""
    cls, type_index = type(obj), obj.__type_index__()
    tables: dict[int, _Table | _AnswerTable | None] | None = cls.__dict__.get(_ATTRIBUTE)
    if tables is not None and type_index in tables:
        table = tables[type_index]
    elif "__tvm_ffi_type_info__" in cls.__dict__:
        return None
    else:
        table = _new_table(cls, info_of_index(type_index))
    if table is None:
        return False
    table.connect(obj, table.native)
    return table.connect, table.native


def _refresh(cls: type) -> None:
    """Update the marks of a class that has changed, and of the classes below it."""
    tables: dict[int, _Table | _AnswerTable | None] = cls.__dict__.get(_ATTRIBUTE, {})
    for table in list(tables.values()):
        if table is not None:
            table.update(cls)
    classes: list[type] = type.__subclasses__(cls)
    for below in classes:
        _refresh(below)
