"""The pytest plugin of ci/hpy-suite, loaded in each interpreter: it compiles the tests' modules.

HPY_SUITE_MODE is universal, debug or trace; HPY_SUITE_MODULES names the folder of compiled modules, which the
interpreters share; CC holds the compiler's command words.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import outcomes  # of ci/suites/plugin
from hpy.devel import HPyDevel
from hpy.devel.abitag import get_hpy_ext_suffix
from test import support  # hpy's `test` package, which precedes the standard library's on the path

import ffi_hpy.hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_MODULES = Path(os.environ["HPY_SUITE_MODULES"])
_COMPILER = os.environ["CC"].split()
_STUB = """import os, sys
from hpy.universal import load
__spec__.origin = os.path.join(os.path.dirname(__file__), {file!r})
sys.modules[__name__] = load(__name__, __spec__.origin, __spec__)
"""

outcomes.notes.update(compiled=0, reused=0)


# --- the tests' modules ---------------------------------------------------------------------------------------------


def compile_module(
    tmpdir: str, extension: Any, hpy_devel: Any, hpy_abi: str, compiler_verbose: int = 0, debug: Any = None
) -> str:
    """Replace `c_compile` of the tests' support module: every interpreter gets the same binary."""
    sources = [Path(tmpdir, source) for source in extension.sources]
    flags = [*_flags(hpy_abi), *(extension.extra_compile_args or ())]
    output = Path(tmpdir, extension.name + get_hpy_ext_suffix(hpy_abi))
    # A copy, because the loader treats two links to one file as the same library with the same variables.
    shutil.copyfile(_build(extension.name, sources, flags, _helpers(hpy_abi)), output)
    if hpy_abi == "hybrid":
        Path(tmpdir, f"{extension.name}.py").write_text(_STUB.format(file=output.name))
    return str(output)


def _flags(hpy_abi: str) -> list[str]:
    devel = HPyDevel()
    flags = ["-DHPY", f"-DHPY_ABI_{hpy_abi.upper()}", "-fPIC"]
    if hpy_abi == "universal":
        flags += ["-I", str(devel.get_include_dir_forbid_python_h())]
    else:
        flags += ["-I", sysconfig.get_paths()["include"]]
    return [*flags, *(word for folder in devel.get_extra_include_dirs() for word in ("-I", folder))]


def _helpers(hpy_abi: str) -> Path:
    """Return, as one object file, the helper sources that HPy links into every module."""
    devel = HPyDevel()
    sources = devel.get_extra_sources() + (devel.get_ctx_sources() if hpy_abi == "cpython" else [])
    return _build("helpers", [Path(source) for source in sources], [*_flags(hpy_abi), "-O1", "-w", "-r"])


def _build(name: str, sources: Sequence[Path], flags: Sequence[str], *objects: Path) -> Path:
    """Return the library (or with -r the object) made of `sources`; compile only if it is not in the folder yet."""
    text = [*_COMPILER, *flags, name, *(source.read_text() for source in sources), *map(str, objects)]
    target = _MODULES / hashlib.sha256("\0".join(text).encode()).hexdigest()[:32]
    with _locked(target.with_suffix(".lock")):
        if target.exists():
            outcomes.notes["reused"] += 1
            return target
        made = target.with_suffix(".new")
        kind = [] if "-r" in flags else ["-shared"]
        command = [*_COMPILER, *kind, *flags, *map(str, sources), *map(str, objects), "-o", str(made)]
        # Started here, so that the compiler's output reaches the tests that search it
        if subprocess.run(command, cwd=sources[0].parent).returncode != 0:
            import distutils.errors

            raise distutils.errors.CompileError(f"{name} cannot be compiled")
        made.rename(target)
        outcomes.notes["compiled"] += 1
    return target


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


# --- pytest ---------------------------------------------------------------------------------------------------------


def _one_mode_only(make: Any) -> Any:
    """Remove the other parametrizations of the fixture: the other mode, and the CPython ABI."""

    def make_fixture(abis: Any, class_fixture: bool = False) -> Any:
        return make([os.environ["HPY_SUITE_MODE"]] if abis == "default" else abis, class_fixture)

    return make_fixture


support.c_compile = compile_module
if sys.implementation.name == "pypy":
    from suite_on_pypy import adapt

    adapt()
support.make_hpy_abi_fixture = _one_mode_only(support.make_hpy_abi_fixture)


def _is_of_cpython_abi(item: Any) -> bool:
    return "[cpython" in item.nodeid


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Put the tests of the CPython ABI last: they import an ordinary extension module, which turns the GIL on."""
    items.sort(key=_is_of_cpython_abi)


def pytest_runtest_setup(item: Any) -> None:
    if _is_of_cpython_abi(item):
        outcomes.note_gil()


def pytest_configure() -> None:
    ffi_hpy.hpy.install()
