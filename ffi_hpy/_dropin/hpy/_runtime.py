"""The modules of ffi_hpy that hpy stands on: of the interpreter's own ffi_hpy, else of the one around this file."""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path

try:
    importlib.import_module("ffi_hpy")
except ModuleNotFoundError as error:
    _run = Path(__file__).resolve().parents[2] / "_run.py"
    if error.name != "ffi_hpy" or not _run.is_file():
        raise
    runpy.run_path(str(_run))["import_package"]()

from ffi_hpy import _hpy, hpy, hpy_debug

__all__ = ["_hpy", "hpy", "hpy_debug"]
