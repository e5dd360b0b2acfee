"""hpy 0.9, answered by ffi_hpy: `hpy.universal`, `hpy.debug`, `hpy.trace` and `hpy.devel`.

PyPy 7.3 has an hpy of its own, with headers that go with its own runtime: there this package is a name for that one.
"""

from __future__ import annotations

import sys

if "_hpy_universal" in sys.builtin_module_names:
    from importlib.machinery import PathFinder
    from pathlib import Path

    _elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parents[1]]
    _theirs = PathFinder.find_spec(__name__, _elsewhere)
    if _theirs is not None and _theirs.submodule_search_locations is not None:
        __path__ = list(_theirs.submodule_search_locations)
