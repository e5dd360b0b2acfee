"""Imports the ffi_hpy modules that hpy uses: the interpreter's own ffi_hpy, or else the ffi_hpy that contains this
file."""

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
