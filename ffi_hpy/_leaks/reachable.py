"""The objects that the program can reach, from its modules and the variables of running functions, through Python and
native objects."""

from __future__ import annotations

import builtins
import gc
import sys
from contextvars import copy_context
from threading import get_ident
from types import CellType, FunctionType, MethodType, ModuleType

from .. import _core
from .natives import ATOMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .natives import Natives

__all__ = ["find_keepers", "find_own", "find_reachable"]

_PACKAGE = (__package__ or "").rpartition(".")[0]
_ANONYMOUS = frozenset((dict, list, tuple, set, frozenset, CellType, MethodType))
"""Classes of objects whose owner tells a reader more than their class does."""


def find_reachable(natives: Natives, caller: FrameType, roots: list[Any]) -> tuple[set[int], set[int]]:
    """Return the pointers of the objects that the program can reach, or that `roots` lead to, and the ids of all Python
    objects on the way. `caller` is the function that asks for the report."""
    roots += [builtins, copy_context(), *sys.modules.values()]
    # Without a GIL, a thread may not read the variables of functions that another thread runs.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    others = [frame for thread, frame in sys._current_frames().items() if has_gil and thread != get_ident()]
    running: FrameType | None
    for running in (caller, *others):
        while running is not None:
            roots += _variables_of(running)
            running = running.f_back
    return _mark(natives, caller, roots, [])


def find_own(natives: Natives, caller: FrameType) -> set[int]:
    """Return the pointers of the objects that ffi_hpy's own modules have."""
    own: list[Any] = []
    others: list[Any] = [sys.modules]
    for name, module in list(sys.modules.items()):
        is_own = name.partition(".")[0] == _PACKAGE
        (own if is_own else others).append(module)
        if not is_own and isinstance(module, ModuleType):
            others.append(vars(module))
    return _mark(natives, caller, own, others)[0]


def _mark(natives: Natives, caller: FrameType, roots: list[Any], blocked: list[Any]) -> tuple[set[int], set[int]]:
    """Return the pointers of the objects that roots lead to, except through blocked objects, and the ids of all Python
    objects on the way."""
    seen = set(map(id, (*blocked, *getattr(_core, "NATIVE_TABLES", ()), natives, *vars(natives).values())))
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame is not caller:  # on PyPy many objects lead to the frames of the report
        seen.add(id(frame))
        frame = frame.f_back
    reached: set[int] = set()
    is_wrapper: dict[type, bool] = {}
    waiting = [roots]
    while waiting:
        found = gc.get_referents(*waiting)
        waiting = []
        for thing in found:
            cls = type(thing)
            if cls in ATOMS or id(thing) in seen:
                continue
            seen.add(id(thing))
            waiting.append(thing)
            if cls not in is_wrapper:
                is_wrapper[cls] = _core.CObject in cls.__mro__
            address = natives.add(thing) if is_wrapper[cls] else 0
            if address:
                natives.in_python.add(address)
                waiting.append(natives.reach(address, reached))
    return reached, seen


def find_keepers(natives: Natives, roots: list[Any], seen: set[int]) -> dict[int, set[str]]:
    """Return the Python objects that have wrappers, by name, for each native object: the objects that `roots` lead to,
    except through seen objects."""
    keepers: dict[int, set[str]] = {}
    waiting = [(thing, "") for thing in roots if thing is not None and id(thing) not in seen]
    while waiting:
        thing, name = waiting.pop()
        module = type(thing).__module__  # of any type, if the class sets it
        is_own = isinstance(module, str) and module.startswith(f"{_PACKAGE}._pypy.")
        if type(thing) not in _ANONYMOUS and not is_own:
            name = (thing if isinstance(thing, FunctionType) else type(thing)).__qualname__
        for child in gc.get_referents(thing):
            if type(child) in ATOMS or isinstance(child, (ModuleType, type)):
                continue
            if _core.CObject in type(child).__mro__:
                address = natives.add(child)
                natives.in_python.add(address)
                keepers.setdefault(address, set()).add(name)
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append((child, name))
    return keepers


def _variables_of(frame: FrameType) -> list[Any]:
    """Return the values of a frame's variables."""
    variables = frame.f_locals
    values = [*variables.values(), frame.f_globals]
    if frame.f_code.co_flags & 1 and type(variables) is dict:  # CO_OPTIMIZED
        variables.clear()  # a copy, which the frame would keep
    return values
