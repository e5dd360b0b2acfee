"""The test matrix as data: the interpreters on which ffi_hpy is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Interpreter:
    """One interpreter of the matrix: its properties, not its path.

    `version` is the start of `sys.implementation.version`: for CPython that is
    the language version, for PyPy the version of PyPy itself.
    """

    name: str
    implementation: str  # as in sys.implementation.name
    version: tuple[int, int]
    uv_name: str  # the argument of `uv python install`; PyPy by its language version
    executables: tuple[str, ...]  # possible names on PATH
    free_threaded: bool = False
    at_least: tuple[int, ...] = ()  # oldest accepted release of `version`
    needs_module: str | None = None  # must be importable there
    joined: bool = True  # False: joins later, provided only by name
    machine: str = ""  # its machine: a label of machines.py, or empty for this one
    libc: str = "glibc"  # the C library of its build


def _cpython(minor: int, free_threaded: bool = False) -> Interpreter:
    suffix = "t" if free_threaded else ""
    return Interpreter(
        name=f"cp3{minor}{suffix}",
        implementation="cpython",
        version=(3, minor),
        uv_name=f"cpython-3.{minor}{suffix}",
        executables=(f"python3.{minor}{suffix}",),
        free_threaded=free_threaded,
    )


_pypy8 = Interpreter(
    name="pp80",
    implementation="pypy",
    version=(8, 0),
    uv_name="pypy>=3.11.16,<3.12",
    executables=("pypy3", "pypy3.11"),
)

MATRIX: tuple[Interpreter, ...] = (
    _cpython(9),
    _cpython(10),
    _cpython(11),
    _cpython(12),
    _cpython(13),
    _cpython(14),
    _cpython(15),
    _cpython(13, free_threaded=True),
    _cpython(14, free_threaded=True),
    replace(_cpython(15, free_threaded=True), joined=False),
    Interpreter(
        name="pp73",
        implementation="pypy",
        version=(7, 3),
        uv_name="pypy>=3.11.11,<3.11.16",
        executables=("pypy3", "pypy3.11"),
        at_least=(7, 3, 19),
        needs_module="_hpy_universal",
    ),
    _pypy8,
)

# Not in the matrix: built with ThreadSanitizer for `ci/sanitize thread`.
SANITIZED: tuple[Interpreter, ...] = (
    replace(_cpython(14, free_threaded=True), name="cp314t-tsan", joined=False),
    replace(_cpython(13, free_threaded=True), name="cp313t-tsan", joined=False),
)


def _foreign(machine: str, interpreter: Interpreter) -> Interpreter:
    return replace(interpreter, name=f"{machine}-{interpreter.name}", machine=machine, joined=False)


# Not in the matrix: for another machine, on an emulator, or for another C library.
FOREIGN: tuple[Interpreter, ...] = (
    *(_foreign("arm64", _cpython(minor)) for minor in (13, 14, 15)),
    _foreign("arm64", _pypy8),
    _foreign("riscv64", _cpython(13)),
    replace(_cpython(13), name="musl-cp313", libc="musl", joined=False),
)

BY_NAME: dict[str, Interpreter] = {interpreter.name: interpreter for interpreter in (*MATRIX, *SANITIZED, *FOREIGN)}


class UnknownName(ValueError):
    """A name that is not in the matrix; the message lists the valid names."""


def names(selection: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the selected names in the given order, without duplicates; without a selection, all that have joined.

    Raises UnknownName if one is not in the matrix.
    """
    unknown = [name for name in selection if name not in BY_NAME]
    if unknown:
        raise UnknownName(f"unknown: {' '.join(unknown)}; known names: {' '.join(BY_NAME)}")
    if not selection:
        return tuple(interpreter.name for interpreter in MATRIX if interpreter.joined)
    return tuple(dict.fromkeys(selection))
