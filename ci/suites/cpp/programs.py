"""Compiles other projects' C++ sources with our headers and libraries; object files are kept until an input changes."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.lib.messages import last_line
from ci.lib.process import clean_environ, output_of, run_logged
from ci.provision.clang import find_clang
from ci.provision.compilers import find_gcc_cxx

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCEPTIONS = Path(__file__).resolve().with_name("exceptions.txt")
FOLDER = ROOT / "build" / "cpp-suite"
LIBRARIES = ("-ltvm_ffi_testing", "-ltvm_ffi", "-ltvm_ffi_cxx")


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler and its label."""

    name: str
    command: tuple[str, ...]


def find_compiler(name: str) -> Compiler:
    """Return gcc or clang. Raises Missing."""
    return Compiler(name, tuple(find_gcc_cxx() if name == "gcc" else [*find_clang(), "--driver-mode=g++"]))


def unpack_wheel(wheel: Path, folder: Path = FOLDER) -> Path:
    """Return the package of the wheel, unpacked where programs find its libraries."""
    stamp = folder / "wheel.sha256"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        stamp.unlink(missing_ok=True)
        shutil.rmtree(folder / "wheel", ignore_errors=True)
        zipfile.ZipFile(wheel).extractall(folder / "wheel")
        stamp.write_text(digest)
    return folder / "wheel" / "ffi_hpy"


class Builder:
    """Compiles sources under `tests`, with the headers there and in `package`, and links the object files."""

    def __init__(self, package: Path, tests: Path, compiler: Compiler, flags: Sequence[str]) -> None:
        self.package = package
        self.tests = tests
        self.compiler = compiler
        self.command = [*compiler.command, *flags, f"-I{package / 'include'}", f"-I{tests}"]
        self.folder = FOLDER / compiler.name
        digest = hashlib.sha256(repr(self.command).encode() + output_of([*compiler.command, "--version"]).encode())
        for folder in (package / "include", tests):
            for header in sorted(folder.rglob("*.h")):
                digest.update(f"{header.relative_to(folder)}\0".encode() + hashlib.sha256(header.read_bytes()).digest())
        self.digest = digest.digest()

    def compile(self, source: Path, log: Path) -> tuple[Path | None, str]:
        """Return the object file of `source`, or None and the reason; the compiler's output goes to `log`."""
        key = hashlib.sha256(self.digest + source.read_bytes()).hexdigest()[:16]
        folder = self.folder / "-".join(source.relative_to(self.tests).with_suffix("").parts)
        made = folder / f"{key}.o"
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            incomplete = folder / "incomplete.o"
            command = [*self.command, "-c", str(source), "-o", str(incomplete)]
            if run_logged(command, log, clean_environ(), folder) != 0:
                return None, f"it does not compile: {first_error(log.read_text(errors='replace'))}"
            incomplete.rename(made)
        return made, ""

    def link(self, objects: Sequence[Path], flags: Sequence[str]) -> Path:
        """Return the program of these object files. Raises Missing."""
        program = self.folder / "tests"
        libraries = self.package / "lib"
        found = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *LIBRARIES]
        output_of([*self.compiler.command, *objects, *flags, *found, "-o", program])
        return program


def first_error(text: str) -> str:
    """Return the first line of a compiler's output that reports an error."""
    return next((line for line in text.splitlines() if "error: " in line), last_line(text))
