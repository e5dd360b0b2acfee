"""Adapts HPy's tests to PyPy where their assumptions hold only on CPython. Only the plugin on PyPy imports this module.

The tests themselves are unchanged. By their own rules they skip features that are missing here. Each skipped test is an
exception that must be listed like any other.
"""

from __future__ import annotations

import gc
import importlib.util
from importlib.machinery import ExtensionFileLoader

from test import support  # hpy's `test` package, which precedes the standard library's on the path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

_plain_collect, _plain_spec = gc.collect, importlib.util.spec_from_file_location


def _supports_refcounts(_self: object) -> bool:
    """Answer the tests' question whether there are refcounts. In hpy 0.9.0 a second method of this name hides the
    method that handles PyPy."""
    return False


def _collect(*generation: int) -> Any:
    """Collect until the objects that C held are gone: a collection finds them, and finalizers and deallocations run
    later."""
    first = _plain_collect(*generation)
    for _ in range(2):
        _plain_collect(*generation)
    return first


def _spec(name: str, location: Any = None, **more: Any) -> ModuleSpec | None:
    """Make a spec for any extension module, as CPython does: PyPy has a loader only for its own suffixes."""
    if str(location).endswith(".so"):
        more.setdefault("loader", ExtensionFileLoader(name, str(location)))
    return _plain_spec(name, location, **more)


def adapt() -> None:
    """Install the functions above."""
    support.HPyTest.supports_refcounts = _supports_refcounts
    gc.collect = _collect
    importlib.util.spec_from_file_location = _spec
