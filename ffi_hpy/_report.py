"""The report that `python -m ffi_hpy` prints: installed versions and the platform, for bug reports.

Each line is found on its own: a missing or broken part is reported on its line and does not end the report. So the
report also works where the binary fails to load.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from importlib import metadata
from pathlib import Path

from ._start.own_version import VERSION
from ._start.version import PrintVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_DISTRIBUTION = "ffi-hpy"
_OTHERS = ("apache-tvm-ffi", "cffi", "cmake", "hpy", "ninja", "numpy", "torch")
"""Distributions that ffi_hpy works with, or that can replace it."""
_VARIABLES = ("FFI_HPY_", "TVM_FFI_", "CC", "CXX", "CUDA_HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHON_GIL")
"""Environment variables that change the behaviour of ffi_hpy. A name that ends with "_" is a prefix."""


def main(problem: BaseException | None = None, arguments: Sequence[str] | None = None) -> int:
    """Print the report, or the help or the version if the arguments ask for them; by default, the process's arguments.
    `problem` is the exception that kept the package from loading. Returns the exit status: 1 with a problem."""
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m ffi_hpy",
        description=summary,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=PrintVersion)
    parser.parse_args(arguments)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that closes the pipe early (head) is not an error
    for title, answer in _LINES.items():
        try:
            said = answer()
        except Exception as error:  # any error of a part belongs in the report
            said = f"not known: {type(error).__name__}: {error}"
        print(f"{title + ':':<12} {said}")
    if problem is not None:
        print(f"{'problem:':<12} {type(problem).__name__}: {problem}")
    return 0 if problem is None else 1


def _package() -> str:
    try:
        found = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"{VERSION} in {_HERE}, of which no installer knows"
    tags = [line.partition(":")[2].strip() for line in (found.read_text("WHEEL") or "").splitlines() if "Tag:" in line]
    is_here = Path(str(found.locate_file("ffi_hpy"))).resolve() == _HERE
    installed = f"{found.version} ({' '.join(tags) or 'of no wheel'})"
    return f"{installed} in {_HERE}" if is_here else f"{VERSION} in {_HERE}; installed elsewhere: {installed}"


def _python() -> str:
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    version = " ".join(sys.version.split())
    return f"{platform.python_implementation()} {version}, GIL {'on' if has_gil else 'off'}"


def _system() -> str:
    libc = " ".join(filter(None, platform.libc_ver()))
    return ", ".join(filter(None, (platform.platform(), platform.machine(), libc)))


def _core() -> str:
    from ctypes import CDLL, byref, c_uint32

    from . import libinfo
    from ._installed.identity import ABI_VERSION

    path = libinfo.find_libtvm_ffi()
    numbers = (c_uint32 * 3)()
    CDLL(path).TVMFFIGetVersion(byref(numbers))
    # The numbers equal the numbers that this release of apache-tvm-ffi returns, which differ from the release's name.
    return f"{path}, ABI of apache-tvm-ffi {ABI_VERSION} (TVMFFIGetVersion: {'.'.join(map(str, numbers))})"


def _context() -> str:
    from . import _core

    own = "" if _core.HAS_EXTENSION else ", without our extension of HPy"
    return f"{_core.CONTEXT_NAME}{own}"


def _calls() -> str:
    from . import _core

    return f"{_core.CALLS}, {_core.CALLS_REASON}" if _core.CALLS_REASON else _core.CALLS


def _compiler() -> str:
    from .cpp._toolchain import cxx_compiler

    tool = cxx_compiler()
    return f"{' '.join(tool.words)}: {tool.identity.splitlines()[1]}"


def _ninja() -> str:
    from .cpp._toolchain import find_ninja

    return find_ninja()


def _packages() -> str:
    found = []
    for name in _OTHERS:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found) or "none of " + ", ".join(_OTHERS)


def _environment() -> str:
    found = [
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if any(name == known or (known.endswith("_") and name.startswith(known)) for known in _VARIABLES)
    ]
    return " ".join(found) or "nothing that ffi_hpy reads"


_LINES: dict[str, Callable[[], str]] = {
    "ffi_hpy": _package,
    "python": _python,
    "executable": lambda: sys.executable,
    "system": _system,
    "core": _core,
    "context": _context,
    "calls": _calls,
    "compiler": _compiler,
    "ninja": _ninja,
    "packages": _packages,
    "environment": _environment,
}
