"""The libraries of nanobind's tests: their sources, and how they are compiled with our headers."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from ci.lib.folders import ROOT
from ci.lib.messages import Missing
from ci.lib.process import clean_environ, output_of, run_logged
from ci.provision.compilers import find_gcc_cxx
from ci.provision.debian import unpacked
from ci.suites.cpp.programs import first_error
from ci.suites.nanobind.statements import read_removals, remove

FOLDER = ROOT / "build" / "nanobind-suite"
FLAGS = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-w")
FURTHER_SOURCES = {"classes": ("test_classes_extra.cpp",), "intrusive": ("test_intrusive_impl.cpp",)}
LIBRARIES = {
    "inter_module": ("inter_module_1", "inter_module_2", "classes"),
    "specialization": ("classes",),
    "stubgen": (),
}
"""The libraries of a test file that has none of its own."""
LINKED = {"inter_module_1": "inter_module", "inter_module_2": "inter_module"}
"""Libraries that are linked with a library without a module."""
EIGEN = "usr/include/eigen3"
WITH_EIGEN = ("eigen", "eigen_tensor")
WITH_HALF = ("ndarray",)
"""The libraries that bind _Float16 only where this macro says that the processor has it; GCC has the type anyway."""
LIMITED = ("functions",)
"""The libraries whose sources have a form of their own for where CPython's whole API is missing."""


class Builder:
    """Compiles the libraries of nanobind's tests; a library is kept until an input changes."""

    def __init__(self, package: Path, tests: Path) -> None:
        self.tests = tests
        self.copies = FOLDER / "sources"
        includes = [package / "_nanobind" / "include", package / "include"]
        self.command = [*find_gcc_cxx(), *FLAGS, *(f"-I{folder}" for folder in includes)]
        digest = hashlib.sha256(repr(self.command).encode() + output_of([self.command[0], "--version"]).encode())
        for folder in (*includes, tests):
            for header in sorted(folder.rglob("*.h")):
                digest.update(f"{header.relative_to(folder)}\0".encode() + header.read_bytes())
        self.digest = digest.digest()
        self._copy_sources()

    def _copy_sources(self) -> None:
        """Copy the sources, without the statements of removed.txt."""
        removals = read_removals()
        shutil.rmtree(self.copies, ignore_errors=True)
        self.copies.mkdir(parents=True)
        for file in sorted(self.tests.iterdir()):
            if file.suffix in (".cpp", ".h"):
                own = [removal for removal in removals if removal.file == file.name]
                (self.copies / file.name).write_text(remove(file.read_text(), own))

    def build_for(self, name: str, log: Path) -> list[Path]:
        """Return the libraries that a test file imports or needs beside it. Raises Missing."""
        found = []
        for module in LIBRARIES.get(name, (name,)):
            needed = (
                [self._build(f"lib{LINKED[module]}", (f"{LINKED[module]}.cpp",), [], log)] if module in LINKED else []
            )
            sources = (f"test_{module}.cpp", *FURTHER_SOURCES.get(module, ()))
            flags = [*map(str, needed), "-Wl,-rpath,$ORIGIN"]
            if module in LINKED:
                flags.append("-DNB_DOMAIN=mydomain")
            if module in WITH_HALF:
                flags.append("-D__AVX512FP16__")
            if module in LIMITED:
                flags.append("-DPy_LIMITED_API")
            if module in WITH_EIGEN:
                flags.append(f"-isystem{unpacked('eigen', 'libeigen3-dev', EIGEN)}/{EIGEN}")
            found += [*needed, self._build(f"test_{module}_ext", sources, flags, log)]
        return list(dict.fromkeys(found))

    def _build(self, name: str, sources: tuple[str, ...], flags: list[str], log: Path) -> Path:
        texts = b"".join((self.copies / source).read_bytes() for source in sources)
        key = hashlib.sha256(self.digest + texts).hexdigest()[:16]
        folder = FOLDER / "libraries" / name
        library = folder / key / f"{name}.so"
        if not library.exists():
            shutil.rmtree(folder, ignore_errors=True)
            library.parent.mkdir(parents=True)
            incomplete = folder / "incomplete.so"
            command = [*self.command, "-shared", *(str(self.copies / source) for source in sources)]
            command += ["-o", str(incomplete), *flags, f"-Wl,-soname,{library.name}"]
            if run_logged(command, log, clean_environ(), folder) != 0:
                raise Missing(f"{name} does not compile: {first_error(log.read_text(errors='replace'))}")
            incomplete.rename(library)
        return library
