"""Builds HPy modules: setuptools' keyword `hpy_ext_modules`, and `HPyDevel` for other build systems.

    setup(name="project", hpy_ext_modules=[Extension("project.fast", ["fast.c"])], setup_requires=["hpy"])

builds a universal module with a stub, `fast.hpy0.so` and `fast.py`, for every interpreter that has an HPy runtime.
`setup.py --hpy-abi=cpython` builds an ordinary extension module of this interpreter instead, and `--hpy-abi=hybrid` a
module that may include Python.h and is loaded by an HPy runtime. Headers and C helpers are from hpy 0.9.0; headers.py
describes their origin.
"""

from __future__ import annotations

import os
from pathlib import Path

from .headers import find_devel, is_complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from setuptools import Distribution, Extension  # type: ignore[import-untyped,unused-ignore]

__all__ = ["DEFAULT_HPY_ABI", "HPyDevel", "handle_hpy_ext_modules"]

DEFAULT_HPY_ABI = "universal"
"""On every interpreter: hpy's CPython ABI uses structs that change, and does not compile with the newest Pythons."""

_HELPERS = ("argparse.c", "buildvalue.c", "format.c", "helpers.c", "structseq.c")


class HPyDevel:
    """The headers and C sources that an HPy module is compiled with."""

    def __init__(self, base_dir: str | os.PathLike[str] | None = None) -> None:
        self.base_dir = Path(base_dir) if base_dir is not None else _default_folder()
        self.include_dir = self.base_dir / "include"
        self.src_dir = self.base_dir / "src" / "runtime"

    def get_extra_include_dirs(self) -> list[str]:
        """Folders of headers, for every ABI."""
        return [str(self.include_dir)]

    def get_include_dir_forbid_python_h(self) -> Path:
        """The folder that comes first for the universal ABI: it contains a Python.h that cannot be included."""
        return self.include_dir / "hpy" / "forbid_python_h"

    def get_extra_sources(self) -> list[str]:
        """C helpers that are compiled into a module of any ABI."""
        return [str(self.src_dir / name) for name in _HELPERS]

    def get_ctx_sources(self) -> list[str]:
        """C sources that are compiled into a module of the CPython ABI in addition."""
        return [str(path) for path in sorted(self.src_dir.glob("ctx_*.c"))]

    def get_static_libs(self, hpy_abi: str) -> list[str] | None:
        """The libraries with the compiled helpers for an ABI, or None if the helpers must be compiled."""
        folder = self.base_dir / "lib" / hpy_abi
        return sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else None

    def fix_distribution(self, dist: Distribution) -> None:
        """Make the commands of a distribution build its `hpy_ext_modules`."""
        from .commands import make_build, make_build_ext

        dist.hpydevel = self
        dist.cmdclass["build"] = make_build(dist.get_command_class("build"))
        dist.cmdclass["build_ext"] = make_build_ext(dist.get_command_class("build_ext"))


def _default_folder() -> Path:
    """Return this folder if it has the headers, as in a wheel from wheel.py, else the folder of headers.py."""
    here = Path(__file__).resolve().parent
    if is_complete(here):
        return here
    return find_devel(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ffi_hpy")


def handle_hpy_ext_modules(dist: Distribution, attr: str, hpy_ext_modules: Sequence[Extension]) -> None:
    """Handle the keyword `hpy_ext_modules` of setuptools, which finds this function by an entry point."""
    if getattr(dist, "hpydevel", None) is not None:  # setuptools calls it again when it reads configuration again
        return
    from .commands import GLOBAL_OPTIONS, mark

    if not hasattr(dist, "hpy_abi"):
        dist.hpy_abi = DEFAULT_HPY_ABI
    dist.hpy_use_static_libs = False
    dist.global_options = [*dist.global_options, *GLOBAL_OPTIONS]
    dist.ext_modules = [*(dist.ext_modules or []), *map(mark, hpy_ext_modules)]
    HPyDevel().fix_distribution(dist)
