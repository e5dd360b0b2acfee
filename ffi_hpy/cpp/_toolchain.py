"""The programs that a build runs: how they are found, and how their versions are distinguished."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass

from ._dialect import dialect_of
from ._errors import BuildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Tool", "c_compiler", "cxx_compiler", "end_of", "find_ninja", "identify", "on_path", "relocatable_linker"]


_OF_WINDOWS = ("cl", "clang-cl") if sys.platform == "win32" else ()


@dataclass(frozen=True)
class Tool:
    """A command, and its version as the program reports it: a new version rebuilds the output of an old one."""

    words: tuple[str, ...]
    identity: str


def c_compiler() -> Tool:
    """Return the command that CC names, else cc, gcc or clang, on Windows cl or clang-cl. BuildError if there is
    none."""
    return _compiler("C", "CC", (*_OF_WINDOWS, "cc", "gcc", "clang"))


def cxx_compiler() -> Tool:
    """Return the command that CXX names, else c++, g++ or clang++, on Windows cl or clang-cl. BuildError if there is
    none."""
    return _compiler("C++", "CXX", (*_OF_WINDOWS, "c++", "g++", "clang++"))


def relocatable_linker() -> Tool:
    """Return the linker that LD names, else ld; it combines object files into one. BuildError if there is none."""
    return _compiler("relocatable", "LD", ("ld", "ld.lld"), kind="linker")


def find_ninja() -> str:
    """Return the path of ninja: on PATH, next to this Python, or in the package of that name. BuildError if it is not
    found."""
    beside = os.path.dirname(sys.executable or "")  # noqa: PTH120 - of an environment that is not activated
    found = shutil.which("ninja") or (shutil.which("ninja", path=beside) if beside else None) or _ninja_of_package()
    if found is None:
        raise BuildError(
            "ninja, which orders the steps of a build, is missing: `pip install ninja` installs it, and systems have a "
            "package (Debian: ninja-build)"
        )
    return found


def _ninja_of_package() -> str | None:
    try:
        import ninja  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return shutil.which("ninja", path=getattr(ninja, "BIN_DIR", None) or None)


def on_path(name: str, variables: Iterable[str] = (), folders: Iterable[str] = ()) -> str | None:
    """Return the path of a program: in `bin` of the folder that an environment variable names, on PATH, or in a
    folder."""
    homes = [os.environ.get(variable, "") for variable in variables]
    named = [os.path.join(os.path.abspath(home), "bin") for home in homes if home]  # noqa: PTH100, PTH118
    places = [*named, os.environ.get("PATH", os.defpath), *folders]
    return next(filter(None, (shutil.which(name, path=place) for place in places)), None)


def _compiler(language: str, variable: str, names: Sequence[str], kind: str = "compiler") -> Tool:
    text = os.environ.get(variable, "").strip()
    try:
        chosen = shlex.split(text.replace("\\", "/") if sys.platform == "win32" else text)
    except ValueError as error:
        raise BuildError(f"{variable} cannot be read as a command: {error}: {text!r}") from None
    chosen = chosen or next(([name] for name in names if shutil.which(name)), [])
    if not chosen:
        raise BuildError(f"no {language} {kind} was found: none of {', '.join(names)} is on PATH; {variable} names one")
    if shutil.which(chosen[0]) is None:
        raise BuildError(f"{variable} names {chosen[0]!r} as {language} {kind}, which is not a program on PATH")
    if os.path.dirname(chosen[0]):  # noqa: PTH120
        chosen[0] = os.path.abspath(chosen[0])  # noqa: PTH100 - it runs in the folder of the build
    return Tool(tuple(chosen), identify(chosen))


def identify(words: Sequence[str]) -> str:
    """Return the version that a command reports, again if the program's file has changed. BuildError if it cannot
    run."""
    path = shutil.which(words[0]) or words[0]
    found = os.stat(path)  # noqa: PTH116
    return _version_of(tuple(words), (path, found.st_size, found.st_mtime_ns))


@functools.lru_cache(maxsize=64)
def _version_of(words: tuple[str, ...], of_file: tuple[str, int, int]) -> str:
    command = [*words, *dialect_of(words).asks_version]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise BuildError(f"{shlex.join(command)} cannot run: {error.strerror or error}") from None
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(command)} {end_of(done.returncode)}:\n{said}")
    return f"{of_file[0]}\n{said}"


def end_of(status: int) -> str:
    """Describe how a process ended, for a message, from its exit status."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
