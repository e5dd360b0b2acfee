"""Programs made of somebody else's C++ sources with our headers and libraries, kept until what they are made of changes."""

from __future__ import annotations

import functools
import hashlib
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from envs import ROOT, clean_environ, last_line, output_of
from jobs import run_logged

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = ROOT / "build" / "cpp-suite"
LIBRARIES = ("-ltvm_ffi_testing", "-ltvm_ffi", "-ltvm_ffi_cxx")


def unpack_wheel(wheel: Path) -> Path:
    """Return the package of the wheel, unpacked where programs find its libraries."""
    stamp = FOLDER / "wheel.sha256"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        stamp.unlink(missing_ok=True)
        shutil.rmtree(FOLDER / "wheel", ignore_errors=True)
        zipfile.ZipFile(wheel).extractall(FOLDER / "wheel")
        stamp.write_text(digest)
    return FOLDER / "wheel" / "ffi_hpy"


class Programs:
    """Makes a program of each source under `tests`, with the headers there and those of `package`."""

    def __init__(self, package: Path, tests: Path) -> None:
        self.package = package
        self.tests = tests
        digest = hashlib.sha256()
        for folder in (package / "include", tests):
            for header in sorted(folder.rglob("*.h")):
                digest.update(f"{header.relative_to(folder)}\0".encode() + hashlib.sha256(header.read_bytes()).digest())
        self.headers = digest.digest()

    def make(self, compiler: tuple[str, ...], flags: Sequence[str], source: Path, log: Path) -> tuple[Path | None, str]:
        """Return the program of `source`, or None and why there is none; the compiler's words go to `log`.

        `flags` are for compiling and linking. The libraries are found where the package is, so they may change under
        a program; what else it is made of is in its name.
        """
        library_folder = self.package / "lib"
        command = [*compiler, *flags, f"-I{self.package / 'include'}", str(source), *library_flags(library_folder)]
        key = hashlib.sha256(self.headers + source.read_bytes() + repr(command).encode() + version_of(compiler).encode())
        stem = "-".join(source.relative_to(self.tests).with_suffix("").parts)
        folder = FOLDER / "programs" / Path(compiler[0]).name / stem
        program = folder / key.hexdigest()[:16]
        if not program.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            made = folder / "incomplete"
            if run_logged([*command, "-o", str(made)], log, clean_environ(), folder) != 0:
                return None, f"it does not compile: {first_error(log.read_text(errors='replace'))}"
            made.rename(program)
        return program, ""


def library_flags(folder: Path) -> list[str]:
    """Return the flags that link a program with our libraries in a folder."""
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *LIBRARIES]


def first_error(text: str) -> str:
    """Return the line of a compiler's output that says what is wrong first."""
    return next((line for line in text.splitlines() if "error: " in line or "undefined reference" in line), last_line(text))


@functools.cache
def version_of(compiler: tuple[str, ...]) -> str:
    return output_of([*compiler, "--version"])
