"""tvm_ffi for the child processes of a program under ffi_hpy.dropin, which have this folder on PYTHONPATH: it is
ffi_hpy.

The interpreter's own ffi_hpy is used if it has one, or else the ffi_hpy that contains this file.
"""

import importlib
import runpy
import sys
from pathlib import Path

try:
    import ffi_hpy
except ModuleNotFoundError as error:
    if error.name != "ffi_hpy":
        raise
    runpy.run_path(str(Path(__file__).resolve().parents[1] / "_run.py"))["import_package"]()
    ffi_hpy = importlib.import_module("ffi_hpy")

from ffi_hpy import dropin


def __getattr__(name: str) -> object:
    """For a thread that imports tvm_ffi at the same time: it waits, and then has this module object."""
    return getattr(ffi_hpy, name)


del sys.modules[__name__]  # otherwise install() would treat this module as another tvm_ffi
dropin.install()
sys.modules[__name__] = ffi_hpy  # the import that runs this module returns ffi_hpy
