"""Stand-ins for system libraries at link time, made from a list of symbols: small libraries, and on macOS text
files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .compiler import Workshop


@dataclass(frozen=True)
class StubLibrary:
    """The symbols that a binary may use from a library, by their symbol version.

    A binary that is linked to the stub needs the library of that soname at run time, in these versions and no newer
    ones, whatever library the build machine has. A symbol that is not listed here is a link error.
    """

    soname: str  # on macOS the path
    names: dict[str, tuple[str, ...]]  # by version, the oldest first; "" if there are no versions


def make_stub(workshop: Workshop, library: StubLibrary) -> Path:
    """Return the stub, built unless it is up to date. Raises BuildError."""
    folder = workshop.build / "stubs"
    if library.soname.endswith(".dylib"):
        return _make_text(folder / PurePosixPath(library.soname).with_suffix(".tbd").name, library)
    source, versions, output = folder / f"{library.soname}.c", folder / f"{library.soname}.map", folder / library.soname
    folder.mkdir(parents=True, exist_ok=True)
    _write(source, "".join(f"void {name}(void) {{}}\n" for names in library.names.values() for name in names))
    _write(versions, "".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in library.names.items()))
    objects = workshop.compile([source], ["-fPIC", "-w"], "stubs")
    flags = ["-nostdlib", f"-Wl,-soname,{library.soname}", f"-Wl,--version-script,{versions}"]
    workshop.link(output, objects, flags)
    return output


_TEXT = """\
--- !tapi-tbd
tbd-version: 4
targets: [ {targets} ]
install-name: '{path}'
exports:
  - targets: [ {targets} ]
    symbols: [ {names} ]
...
"""
"""The format of Apple's tools for libraries that are only linked to."""


def _make_text(output: Path, library: StubLibrary) -> Path:
    names = ", ".join(f"_{name}" for names in library.names.values() for name in names)
    output.parent.mkdir(parents=True, exist_ok=True)
    _write(output, _TEXT.format(targets="x86_64-macos, arm64-macos", path=library.soname, names=names))
    return output


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
