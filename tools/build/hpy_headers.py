"""Finds the headers and C helpers of hpy for a build, with the code of ffi_hpy's own hpy.devel."""

from __future__ import annotations

import runpy
from pathlib import Path

from .errors import BuildError

_FINDER = Path(__file__).resolve().parents[2] / "ffi_hpy" / "_dropin" / "hpy" / "devel" / "headers.py"


def find_hpy_devel(cache: Path) -> Path:
    """Return an `hpy/devel` folder of version 0.9.0, with its `include` and `src/runtime`. Raises BuildError."""
    finder = runpy.run_path(str(_FINDER))
    try:
        devel: Path = finder["find_devel"](cache)
    except finder["HeadersError"] as error:
        raise BuildError(str(error)) from None
    return devel
