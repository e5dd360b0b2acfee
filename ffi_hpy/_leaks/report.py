"""The leak report: live native objects by type, count and holder, with the line that made them.

A report collects garbage, makes sure that each object has a wrapper, and walks from object to object (natives), which
gives the holders; a second walk finds the objects that the program can reach (reachable). `FFI_HPY_LEAKS=1` in the
environment records objects from their creation on (recording). Without the variable, objects are made at full speed,
and a report has only the objects that the instance map and the program's variables lead to.
"""

from __future__ import annotations

import atexit
import gc
import sys
from dataclasses import dataclass
from threading import get_ident

from .. import _core
from .._core import CObject
from .._start.fork import importing
from ..registry import get_global_func, list_global_func_names
from . import recording
from .natives import Natives, callable_of, key_of
from .reachable import find_keepers, find_own, find_reachable
from .recording import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

__all__ = ["Leak", "Leaks", "leaks", "print_at_exit"]

_IS_CPYTHON = sys.implementation.name == "cpython"


@dataclass(frozen=True)
class Leak:
    """Live native objects of one type that were made on one line and have the same holders.

    Attributes:
        type_key: the type of the objects.
        count: the number of objects.
        line: the line of the program that made them, "path:number in function"; None if it is not known.
        callback: the name of the Python callable, if the objects are functions made from one.
        python_references: references from Python to the wrapper of each object, 0 if it has no wrapper. None on
            interpreters that do not count references.
        python_holders: the Python objects that have the wrapper, by name, as far as only native code keeps them alive.
        native_references: strong references to each native object; a wrapper owns one.
        holders: the places in containers and fields that hold each object.
        other_references: strong references that belong neither to a wrapper nor to `holders`: references of native
            code.
        is_reachable: whether the program can reach the objects.
    """

    type_key: str
    count: int
    line: str | None
    callback: str | None
    python_references: int | None
    python_holders: tuple[str, ...]
    native_references: int
    holders: tuple[str, ...]
    other_references: int
    is_reachable: bool

    def __str__(self) -> str:
        """The lines of the report."""
        of, at = f" of {self.callback}" if self.callback else "", f", made at {self.line}" if self.line else ""
        held = [f"the {holder}" for holder in dict.fromkeys(self.holders)]
        if self.python_references != 0:
            n, who = self.python_references, ", ".join(self.python_holders) or "Python"
            held.insert(0, who if n is None else f"{who} ({_number(n, 'reference')})")
        if self.other_references:
            held.append(f"native code ({_number(self.other_references, 'reference')})")
        each = ", each" if self.count > 1 else ""
        return (
            f"{self.count} {self.type_key}{of}{at}\n"
            f"  {_number(self.native_references, 'native reference')}{each}; held by {', '.join(held) or 'no object'}"
        )


class Leaks(list[Leak] if TYPE_CHECKING else list):  # type: ignore[misc]
    """The list that leaks() returns. The str() of the list is the report, "" if the list is empty."""

    def __str__(self) -> str:
        """The report."""
        lines: list[str] = []
        for is_reachable, verb in ((False, "cannot reach"), (True, "can reach")):
            found = [leak for leak in self if leak.is_reachable is is_reachable]
            if found:
                n = sum(leak.count for leak in found)
                lines.append(f"ffi_hpy: {n} native object{'s are' if n > 1 else ' is'} alive that the program {verb}:")
                lines += ["  " + str(leak).replace("\n", "\n  ") for leak in found]
        return "\n".join(lines)


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"


def leaks(*, reachable: bool = True) -> Leaks:
    """List the native objects that are alive, by type and holder, with the line that made them.

    With `FFI_HPY_LEAKS=1` in the environment, these are the objects that have had a Python object since the import of
    ffi_hpy; the line is known then. Without it, they are the objects that have a Python object now; the line is known
    if tracemalloc runs. Types, enums, registered functions and the objects of ffi_hpy itself are not listed. The
    function collects garbage first.

    Args:
        reachable: whether to list the objects that the program can reach, too: from a module, from a variable of a
            running function (without the GIL, of this thread), or from a registered function. The others are leaks.

    Returns:
        A list of records: `type_key`, `count`, `line`, `callback`, `python_references`, `python_holders`,
        `native_references`, `holders`, `other_references`, `is_reachable`. The str() of the list is the report that
        `FFI_HPY_LEAKS=1` prints to stderr at exit, if there are leaks.

    Examples:
        >>> box = ffi_hpy.List([ffi_hpy.List()])
        >>> found = ffi_hpy.leaks()
        >>> "ffi.List" in {leak.type_key for leak in found}
        True
    """
    me = get_ident()
    recording.reporting.add(me)
    try:
        _collect()
        return _report(sys._getframe(1), reachable)
    finally:
        recording.reporting.discard(me)


def print_at_exit() -> None:
    """Record objects from now on, and print the report of leaks to stderr at exit."""
    recording.begin()
    atexit.register(_print)


def _print() -> None:
    text = str(leaks(reachable=False))
    if text and sys.stderr is not None:
        try:
            print(text, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # stderr is closed
            return


def _collect() -> None:
    """Collect garbage. A call of native code runs the deferred decrefs of finalizers, which release further objects on
    PyPy."""
    for _ in range(1 if _IS_CPYTHON else 3):
        gc.collect()
        list_global_func_names()


def _find_natives() -> Natives:
    """Return the objects that have wrappers or records, and all objects that they hold."""
    natives = Natives()
    for wrapper in _core.wrappers():
        natives.in_python.add(natives.add(wrapper))
    for wrapper in recording.find_alive():
        natives.add(wrapper)
    return natives


def _stays(wrapper: Any) -> bool:
    """Whether a wrapper is a module that load_module() keeps alive."""
    return key_of(wrapper) == "ffi.Module" and "_stays" in wrapper.__dict__


def _report(caller: FrameType, reachable: bool) -> Leaks:
    natives = _find_natives()
    kept = {natives.add(get_global_func(name, allow_missing=True)) for name in list_global_func_names()}
    kept.update(address for address, record in list(records.items()) if record.is_on_purpose)
    kept.update(address for address, wrapper in natives.wrappers.items() if _stays(wrapper))
    reached: set[int] = set()
    roots: list[Any] = []
    for address in kept & natives.edges.keys():
        roots += natives.reach(address, reached)
    found, seen = find_reachable(natives, caller, roots)
    reached |= found
    roots.clear()
    for address in natives.edges.keys() - reached:
        roots += natives.attached(address)
    keepers = find_keepers(natives, roots, seen)
    roots.clear()
    known = set(records) if recording.is_recording() else natives.in_python - find_own(natives, caller)
    listed = known & natives.edges.keys() - kept
    return _describe(natives, sorted(listed if reachable else listed - reached), reached, keepers)


def _describe(natives: Natives, listed: list[int], reached: set[int], keepers: dict[int, set[str]]) -> Leaks:
    holders = natives.find_holders()
    probe = object()
    wrappers = [probe, *(natives.wrappers[address] for address in listed)]
    del probe
    natives.wrappers.clear()
    if not _IS_CPYTHON:
        _collect()
    n_own = sys.getrefcount(wrappers[0]) if _IS_CPYTHON else 0  # the references of this function
    groups: dict[tuple[Any, ...], int] = {}
    for i, address in enumerate(listed, 1):
        has_wrapper = address in natives.in_python
        is_own = not has_wrapper or not _core.KEEPS_IDENTITY  # whether the report made the wrapper
        n_python = sys.getrefcount(wrappers[i]) - n_own if _IS_CPYTHON and not is_own else None
        try:
            key, n = key_of(wrappers[i]), CObject.__use_count__(wrappers[i]) - is_own
        except ValueError:  # another thread has moved the handle away
            continue
        held = sorted(holders.get(address, ()))
        group = (
            key,
            _line_of(address, wrappers[i]),
            _name_of(callable_of(wrappers[i])),
            n_python if has_wrapper else 0,
            tuple(sorted(keepers.get(address, ()))),
            n,
            tuple(held),
            max(0, n - has_wrapper - len(held)),
            address in reached,
        )
        groups[group] = groups.get(group, 0) + 1
    found = Leaks(Leak(group[0], n, *group[1:]) for group, n in groups.items())
    found.sort(key=lambda leak: (leak.is_reachable, -leak.count, leak.type_key, leak.line or ""))
    return found


def _line_of(address: int, wrapper: Any) -> str | None:
    """Return the line that made an object: the recorded one, or the one on which tracemalloc saw its wrapper."""
    record = records.get(address)
    if record is not None:
        return record.line
    if not _IS_CPYTHON:  # PyPy has no tracemalloc
        return None
    with importing:
        import tracemalloc
    trace = tracemalloc.get_object_traceback(wrapper)
    return f"{trace[-1].filename}:{trace[-1].lineno}" if trace else None


def _name_of(fn: Any) -> str | None:
    """Return the name of a callable and the place of its code."""
    if fn is None:
        return None
    name, code = getattr(fn, "__qualname__", None), getattr(fn, "__code__", None)
    return f"{name or type(fn).__name__}{f' ({code.co_filename}:{code.co_firstlineno})' if code else ''}"
