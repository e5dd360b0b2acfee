"""One build: from sources and flags to the steps that make a library or an object file, and to its path."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .. import libinfo, utils
from ._cache import LOCK, cache_folder, digest_of, digest_of_bytes, environment_digest, held, write_whole
from ._dialect import OUT, dialect_of
from ._errors import BuildError
from ._gpu import GpuCompiler, choose_backend, gpu_compiler
from ._headers import NOTES
from ._ninja import NINJA_FILE, Step, ninja_text, run_ninja
from ._toolchain import Tool, c_compiler, cxx_compiler, find_ninja, identify, relocatable_linker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Build", "make"]

_OBJECTS = "objects"  # a separate folder, so that no output can have the same name
_ODD = r"[^\w.+-]"  # not allowed in file names that tools write into lists for other tools
_OBJECT_SUFFIXES = (".o", ".obj")
_KINDS = {**dict.fromkeys((".cc", ".cpp", ".cxx", ".c++"), "c++"), ".c": "c", ".cu": "gpu"}
_KINDS.update(dict.fromkeys(_OBJECT_SUFFIXES, "object"))


@dataclass(frozen=True)
class Build:
    """A build: its output and its inputs. Paths are absolute, except in `texts`, which are written into the folder of
    the build."""

    name: str
    sources: tuple[Path, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """Files to write, by name."""
    units: tuple[str, ...] = ()
    """The names in `texts` that are compiled."""
    cflags: tuple[str, ...] = ()
    gpu_flags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    cubins: dict[str, bytes] = field(default_factory=dict)
    backend: str | None = None
    output: str = ""
    verbose: bool | None = None
    folder: Path | None = None
    """The folder to build in; None for a folder in the cache whose name is derived from all other fields."""

    @property
    def makes_object(self) -> bool:
        return Path(self.output).suffix.lower() in _OBJECT_SUFFIXES


class _Toolchain:
    """The programs of one build and their flags. Each program is searched for when a step needs it."""

    def __init__(self, build: Build) -> None:
        includes = [*libinfo.include_paths(), *build.include_paths]
        self._flags = [*build.cflags, *(f"-I{path}" for path in includes)]
        self._gpu_flags = [*build.gpu_flags, *(f"-I{path}" for path in includes)]
        self.platform = libinfo.target_platform()
        self.backend = build.backend
        self.gpu: GpuCompiler | None = None

    def compiler(self, kind: str) -> tuple[Tool, list[str]]:
        """Return the compiler for "c", "c++" or "gpu", and the words of its command up to the files."""
        if kind == "gpu":
            self.gpu = self.gpu or gpu_compiler(choose_backend(self.backend))
            return self.gpu.tool, [*self.gpu.tool.words, *self.gpu.compile_flags, *self._gpu_flags]
        tool = c_compiler() if kind == "c" else cxx_compiler()
        return tool, [*tool.words, *dialect_of(tool.words, self.platform).defaults[kind], *self._flags]


def make(build: Build) -> str:
    """Build the parts that are out of date, and return the path of the library or object file. BuildError."""
    toolchain = _Toolchain(build)
    steps = [*_compile_steps(build, toolchain)]
    objects = [*(step.output for step in steps), *(str(p) for p in build.sources if kind_of(p) == "object")]
    steps += _join_steps(build, toolchain, objects)
    folder = build.folder or cache_folder() / f"{build.name}_{_key(build, steps)}"
    try:
        with held(folder) as work:
            for name, content in _files(build).items():
                write_whole(folder / name, content, work)
            write_whole(folder / NINJA_FILE, os.fsencode(ninja_text(steps, work)), work)
            run_ninja(folder, work, steps, build.name, build.verbose)
    except OSError as error:
        parameter = "TVM_FFI_CACHE_DIR" if build.folder is None else "build_directory"
        raise BuildError(
            f"{build.name!r} cannot be built in {folder}: {error}; {parameter} can name another folder"
        ) from error
    return str(folder / build.output)


def _files(build: Build) -> dict[str, bytes]:
    """Return the files that a build has to write first, by name. ValueError if the output has one of these names."""
    files = {name: text.encode() for name, text in build.texts.items()}
    files.update((f"{name}.cubin", content) for name, content in build.cubins.items())
    taken = (*files, NINJA_FILE, NOTES, LOCK, _OBJECTS)
    if build.output in taken:
        raise ValueError(f"output must not be {build.output!r}, which is another file of the build")
    return files


def _key(build: Build, steps: Sequence[Step]) -> str:
    """Return the name of a build in the cache. For source files only the paths count: if a file's content changes,
    ninja rebuilds its dependents only. The content of inline texts counts, so that builds of different texts never
    share a library's path."""
    commands = [(step.output, step.words, step.inputs, step.made_by) for step in steps]
    cubins = [(name, digest_of_bytes(content)) for name, content in build.cubins.items()]
    return digest_of(build.name, commands, build.texts, cubins, identify([find_ninja()]))  # its log is for one version


def _compile_steps(build: Build, toolchain: _Toolchain) -> Iterator[Step]:
    """Yield one step for each source that is not an object file."""
    units = [(unit, build.texts[unit].encode()) for unit in build.units]
    units += [(str(path), path.read_bytes()) for path in build.sources if kind_of(path) != "object"]
    for i, (path, content) in enumerate(units):
        tool, words = toolchain.compiler(kind_of(Path(path)))
        dialect = dialect_of(tool.words, toolchain.platform)
        output = f"{_OBJECTS}/{re.sub(_ODD, '_', Path(path).stem)}.{i}{dialect.object_suffix}"
        command = (*words, *dialect.compile_words(path))
        made_by = digest_of(environment_digest(), tool.identity)
        yield Step(output, (path,), command, made_by, digest_of_bytes(content), lists_in=dialect.lists_in)


def _join_steps(build: Build, toolchain: _Toolchain, objects: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that combine the object files into one file."""
    made_of = digest_of([digest_of_bytes(path.read_bytes()) for path in build.sources if kind_of(path) == "object"])
    if build.makes_object or build.cubins:
        last = build.output if build.makes_object and not build.cubins else f"{_OBJECTS}/{build.name}.joined.o"
        yield _relocatable_step(objects, last, made_of)
        objects = [last]
    for i, (name, content) in enumerate(build.cubins.items()):
        is_last = i == len(build.cubins) - 1 and build.makes_object
        last = build.output if is_last else f"{_OBJECTS}/{build.name}.with_{name}.o"
        yield _embed_step(objects[0], last, name, content)
        objects = [last]
    if not build.makes_object:
        yield _link_step(build, toolchain, objects, made_of)


def _relocatable_step(objects: Sequence[str], output: str, stamp: str) -> Step:
    if len(objects) == 1:  # some linkers change a file that they only copy
        return Step(output, (objects[0],), ("cp", objects[0], OUT), "", stamp)
    linker = relocatable_linker()
    return Step(output, tuple(objects), (*linker.words, "-r", "-o", OUT, *objects), digest_of(linker.identity), stamp)


def _embed_step(source: str, output: str, name: str, content: bytes) -> Step:
    cubin = f"{name}.cubin"
    script = str(Path(utils.__file__).with_name("embed_cubin.py"))
    words = (sys.executable, "-I", "-S", script, "--output-obj", OUT, "--input-obj", source, "--cubin", cubin)
    made_by = digest_of(relocatable_linker().identity)  # the linker that the program calls
    return Step(output, (source, cubin), (*words, "--name", name), made_by, digest_of_bytes(content))


def _link_step(build: Build, toolchain: _Toolchain, objects: Sequence[str], stamp: str) -> Step:
    is_all_c = all(kind_of(path) == "c" for path in (*build.sources, *map(Path, build.units)))
    tool = c_compiler() if is_all_c else cxx_compiler()
    library = Path(libinfo.find_libtvm_ffi())
    # A missing symbol then raises an error at load time instead of ending the process at the first call
    bind_now = ["-Wl,-z,now"] if toolchain.platform == "linux" else []
    gpu = toolchain.gpu.link_flags if toolchain.gpu is not None else ()
    dialect = dialect_of(tool.words, toolchain.platform)
    words = (*tool.words, *dialect.link_words(objects, library, (*bind_now, *gpu, *build.ldflags)))
    return Step(build.output, tuple(objects), words, digest_of(environment_digest(), tool.identity), stamp)


def kind_of(path: Path) -> str:
    """Return the kind of compiler for a file: "c", "c++" or "gpu"; "object" for a compiled file. ValueError for any
    other suffix."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"sources end with {', '.join(_KINDS)}, got {path}")
    return kind
