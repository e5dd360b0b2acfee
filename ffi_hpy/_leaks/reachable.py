"""The objects that the program can reach, from its modules and the variables of running functions, through Python and
native objects."""

from __future__ import annotations

import builtins
import gc
import sys
from contextvars import copy_context
from threading import get_ident
from types import ModuleType

from .. import _core
from .natives import ATOMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .natives import Natives

__all__ = ["find_own", "find_reachable"]

_PACKAGE = (__package__ or "").rpartition(".")[0]


def find_reachable(natives: Natives, caller: FrameType, roots: list[Any]) -> set[int]:
    """Return the pointers of the objects that the program can reach, or that `roots` lead to. `caller` is the function
    that asks for the report."""
    roots += [builtins, copy_context(), *sys.modules.values()]
    frames = sys._current_frames()
    frames.pop(get_ident(), None)
    running: FrameType | None
    for running in (caller, *frames.values()):
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
    return _mark(natives, caller, own, others)


def _mark(natives: Natives, caller: FrameType, roots: list[Any], blocked: list[Any]) -> set[int]:
    """Return the pointers of the objects that roots lead to, except through blocked objects."""
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
    return reached


def _variables_of(frame: FrameType) -> list[Any]:
    """Return the values of a frame's variables."""
    variables = frame.f_locals
    values = [*variables.values(), frame.f_globals]
    if frame.f_code.co_flags & 1 and type(variables) is dict:  # CO_OPTIMIZED
        variables.clear()  # a copy, which the frame would keep
    return values
