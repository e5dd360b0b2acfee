"""Names that a module of tvm_ffi has and our module of that name lacks, because they are elsewhere in this package."""

from __future__ import annotations

import builtins
import sys
from importlib import import_module

from .fork import import_whole
from .similar import did_you_mean, not_said_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["find_elsewhere"]

_PACKAGE = (__package__ or "").rpartition(".")[0]


def find_elsewhere(module: str) -> Callable[[str], Any]:
    """Return `__getattr__` for a module: it finds the module's names in HOMES. The table is read only when a name is
    missing in the module, so imports do not pay for it."""

    def find(name: str) -> Any:
        homes = import_whole(f"{_PACKAGE}._start.elsewhere_names").HOMES
        home = homes.get(module[len(_PACKAGE) + 1 :], {}).get(name)
        if home is None:
            similar = did_you_mean(name, [*dir(sys.modules[module]), *homes.get(module[len(_PACKAGE) + 1 :], ())])
            raise AttributeError(f"module {module!r} has no attribute {name!r}{similar}", **not_said_again(name))
        place, _, attribute = home.partition(":")
        of_ours = import_module if place.startswith("/") else import_whole
        value: Any = of_ours(place[1:] if place.startswith("/") else f"{_PACKAGE}.{place}".rstrip("."))
        if attribute:
            value = getattr(value, attribute)
            if not hasattr(builtins, name):  # the functions of the module need Python's bool, int and others
                setattr(sys.modules[module], name, value)
        return value

    return find
