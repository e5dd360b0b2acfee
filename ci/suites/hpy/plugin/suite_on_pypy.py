"""What HPy's tests take for granted, and PyPy has otherwise: imported by the plugin there, and nowhere else.

The tests are the same. What they cannot find here they skip by their own rules, and a skipped test is an exception,
which has to be listed like any other.
"""

from __future__ import annotations

import gc
import importlib.util
from importlib.machinery import ExtensionFileLoader

from test import support  # hpy's, which comes before the standard library's

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

_plain_collect, _plain_spec = gc.collect, importlib.util.spec_from_file_location


def _supports_refcounts(_self: object) -> bool:
    """Answer the tests that ask. In hpy 0.9.0 a second method of this name hides the one that knows PyPy."""
    return False


def _collect(*generation: int) -> Any:
    """Collect until what C held is gone: a collection finds it, and finalizers and deallocations run after it."""
    first = _plain_collect(*generation)
    for _ in range(2):
        _plain_collect(*generation)
    return first


def _spec(name: str, location: Any = None, **more: Any) -> ModuleSpec | None:
    """Make a spec for any extension module, as CPython does: PyPy has a loader for its own suffixes only."""
    if str(location).endswith(".so"):
        more.setdefault("loader", ExtensionFileLoader(name, str(location)))
    return _plain_spec(name, location, **more)


def adapt() -> None:
    """Put the functions above in their places."""
    support.HPyTest.supports_refcounts = _supports_refcounts
    gc.collect = _collect
    importlib.util.spec_from_file_location = _spec
