"""Loads universal modules like `hpy.universal`: for the stubs that HPy's builds write, and for other callers.

The environment variable HPY selects the mode for stubs: `debug`, `trace` or `universal`, or for single modules
`NAME:MODE,NAME:MODE`. If HPY_LOG has any value, each stub is announced on stdout.
"""

from __future__ import annotations

import sys

from . import _debug as _debug
from . import _trace as _trace
from ._runtime import hpy as _hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

MODE_INVALID, MODE_UNIVERSAL, MODE_DEBUG, MODE_TRACE = -1, 0, 1, 2

_MODES = {"universal": MODE_UNIVERSAL, "debug": MODE_DEBUG, "trace": MODE_TRACE}


def load(name: str, path: str, spec: ModuleSpec | None, debug: bool = False, mode: int = MODE_INVALID) -> ModuleType:
    """Load the universal module `name` from the file `path`. A `mode` above 0 takes precedence over `debug`."""
    if mode <= MODE_UNIVERSAL:
        mode = MODE_DEBUG if debug else MODE_UNIVERSAL
    if mode not in _MODES.values():
        raise ValueError(f"expected an HPy mode from {MODE_UNIVERSAL} to {MODE_TRACE}, got {mode}")
    # An extension's name may have dashes; the names of its entry points cannot.
    parent, dot, last = name.rpartition(".")
    loaded = f"{parent}{dot}{last.replace('-', '_')}"
    return _hpy.load(loaded, path, spec, debug=mode == MODE_DEBUG or None, trace=mode == MODE_TRACE)


def _load_bootstrap(
    name: str,
    ext_name: str,
    package: str,
    file: str,
    loader: Any,
    spec: ModuleSpec,
    env: Mapping[str, str],
) -> ModuleType:
    """Load a module for its stub: `name` is the name of its entry points, `ext_name` the module's own."""
    mode = _mode_of(name, env.get("HPY"))
    if "HPY_LOG" in env:
        context = "" if mode == MODE_UNIVERSAL else f" with a {_name_of(mode)} context"
        sys.stdout.write(f"Loading {name!r} in HPy universal mode{context}\n")
    module = load(name, file, spec, mode=mode)
    spec.origin = file
    attributes = {
        "__file__": file,
        "__loader__": loader,
        "__name__": ext_name,
        "__package__": package,
        "__spec__": spec,
    }
    for attribute, value in attributes.items():
        setattr(module, attribute, value)
    return module


def _mode_of(name: str, wanted: str | None) -> int:
    """Return the mode that HPY names for a module. ValueError if it does not name a mode, or an unknown one."""
    if wanted is None:
        return MODE_UNIVERSAL
    mode = wanted
    if ":" in wanted:
        by_module = dict(pair.partition(":")[::2] for pair in wanted.split(","))
        mode = by_module.get(name, "universal")
    if mode.lower() not in _MODES:
        raise ValueError(f"invalid HPy mode: expected {', '.join(_MODES)} in HPY={wanted!r}, got {mode!r}")
    return _MODES[mode.lower()]


def _name_of(mode: int) -> str:
    return next(name for name, number in _MODES.items() if number == mode)


def get_version() -> tuple[str, str]:
    """Return the release of HPy whose ABI this is, and the implementation."""
    return "0.9.0", "ffi_hpy"
