"""Runs a module of the package in this folder with any interpreter, even one without an installed ffi_hpy.

    python PATH/TO/ffi_hpy/_run.py ffi_hpy.stub.cli ARGUMENT...

One wheel serves every interpreter, so a build system need not look for an interpreter that has ffi_hpy installed. A
module whose name begins with tvm_ffi runs as under ffi_hpy.dropin.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Not this folder: its modules cannot be imported on their own, and one is called dataclasses
    own = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
    sys.path[:] = [folder for folder in sys.path if folder != own]

import importlib.util
import runpy
from pathlib import Path

HERE = Path(__file__).resolve().parent


def import_package() -> None:
    """Import ffi_hpy from this folder, unless it is imported. ImportError if it cannot be loaded."""
    if "ffi_hpy" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "ffi_hpy", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    assert spec is not None  # it is never None for a Python file
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["ffi_hpy"] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        sys.modules.pop("ffi_hpy", None)
        raise


def main(arguments: list[str]) -> int:
    """Run the module that the first argument names, with the remaining arguments. Returns an exit status for wrong
    usage."""
    if not arguments or arguments[0].partition(".")[0] not in ("ffi_hpy", "tvm_ffi"):
        print(f"usage: {sys.argv[0]} MODULE ARGUMENT..., a module of ffi_hpy or tvm_ffi", file=sys.stderr)
        return 2
    sys.argv = arguments
    import_package()
    if arguments[0].startswith("tvm_ffi"):
        from ffi_hpy import dropin

        dropin.install()
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
