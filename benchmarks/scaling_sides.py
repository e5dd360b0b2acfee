"""The sides of scaling.py, calls.py and instructions.py: an environment, and a library or module, for each."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.upstream import VERSIONS, fetch_upstream

HERE = Path(__file__).resolve().parent

PEERS = {"tvm_ffi": f"apache-tvm-ffi=={VERSIONS[0]}", "nanobind": "nanobind==3.1.0", "pybind11": "pybind11==3.1.0"}
KINDS = ("ffi_hpy", "bound", *PEERS, "plain")
"""`bound` is ours with nanobind's source, compiled with our headers by nanobind's names."""
LABELS = {"ffi_hpy": "ours", "bound": "ours, bound", "plain": "Python"}
"""Labels of the sides, if different from their kinds."""

ASK_FLAGS = """
import sys
import sysconfig
flags = [f"-I{sysconfig.get_path('include')}"]
sources = []
if sys.argv[1] == "nanobind":
    import nanobind, pathlib
    source = pathlib.Path(nanobind.source_dir())
    robin_map = source.parent / "ext" / "robin_map" / "include"
    flags += [f"-I{nanobind.include_dir()}", f"-I{robin_map}", "-fno-strict-aliasing"]
    flags += ["-DNB_FREE_THREADED"] * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    sources = [str(source / "nb_combined.cpp")]
else:
    import pybind11
    flags += [f"-I{pybind11.get_include()}"]
print(*flags, *sources, sep="\\n")
"""

ASK_OUR_FLAGS = """
from ffi_hpy.libinfo import find_nanobind_include_path, include_paths
print(*(f"-I{path}" for path in (find_nanobind_include_path(), *include_paths())), sep="\\n")
"""

LIBRARY = "scaling_ffi"
"""The source of the library that is compiled for ffi_hpy and for tvm_ffi, with the headers of each."""


class Place(NamedTuple):
    """The files of a side: `file` is the library of test functions or the compiled module; `more` is an additional
    library of ffi_hpy and tvm_ffi for scaling.py."""

    env: Path
    file: Path
    more: Path | None = None


def flags_of(kind: str, env: Path) -> list[str]:
    """Return the compiler's flags for modules of a peer, and the peer's own sources."""
    return output_of([python_of(env), "-c", ASK_FLAGS, kind]).splitlines()


def compile_module(kind: str, env: Path, program: str) -> Path:
    """Return a peer's module, compiled with the flags of the peer's own build system. Raises Missing."""
    if kind == "bound":
        kind, flags = "nanobind", output_of([python_of(env), "-P", "-c", ASK_OUR_FLAGS]).splitlines()
    else:
        flags = flags_of(kind, env)
    return compile_shared([HERE / f"{program}_{kind}.cc", *sorted(HERE.glob("*.h"))], flags)


def compile_library(kind: str, env: Path, library: str = LIBRARY) -> Path:
    """Return a library, compiled with the headers in a side's environment. Raises Missing."""
    package = "ffi_hpy" if kind == "before" else kind
    options = ("--cxxflags", "--ldflags", "--libs")
    flags = output_of([python_of(env), "-P", "-m", f"{package}.config", *options]).split()
    return compile_shared([HERE / f"{library}.cc"], flags)


def compile_shared(sources: list[Path], flags: list[str]) -> Path:
    """Return the library compiled from the first source, which includes the others; from the cache if it is there."""
    name = sources[0].stem
    key = hashlib.sha256("\n".join([*flags, *(source.read_text() for source in sources)]).encode()).hexdigest()[:12]
    module = cache_dir() / "bench" / key / f"{name}.so"
    with locked(module.parent.with_name(f".{key}.lock")):
        if not module.exists():
            say(f"compiling {name} ...")
            module.parent.mkdir(parents=True, exist_ok=True)
            scratch = module.with_suffix(".new")
            # The flags of nanobind_add_module() and pybind11_add_module() in a release build, not optimized for size.
            common = ["g++", "-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden"]
            output_of([*common, sources[0], *flags, "-o", scratch])
            scratch.rename(module)
    return module


def find_testing_library() -> Path:
    """Return apache-tvm-ffi's own library of test functions and types. Raises Missing."""
    return fetch_upstream(VERSIONS[0]) / "tvm_ffi" / "lib" / "libtvm_ffi_testing.so"


def provide_env(kind: str, name: str, python: Path, wheel: Path, program: str) -> Path:
    """Return the environment of a side, which a wheel of ours is installed into."""
    if kind in PEERS:
        return cached_env(f"scaling-{name}-{kind}", python, ["--only-binary=:all:", PEERS[kind], "numpy", "pytest"])
    label = hashlib.sha256(wheel.read_bytes()).hexdigest()[:8] if kind == "before" else kind
    needs_numpy = program != "lifetimes" and "without NumPy" not in program  # NumPy has no wheel for PyPy
    needs = ["--only-binary=:all:", "numpy"] if needs_numpy else []
    env = cached_env(f"scaling-{name}-{label}", python, needs)
    if kind != "plain":
        install_wheel(env, wheel)
    return env


def find_place(kind: str, name: str, python: Path, wheel: Path, program: str = "scaling") -> Place:
    """Return the place of a side of `program` on the interpreter `name`. Raises Missing."""
    library = find_testing_library()
    env = provide_env(kind, name, python, wheel, program)
    if kind in ("bound", "nanobind", "pybind11"):
        return Place(env, compile_module(kind, env, program))
    return Place(env, library, compile_library(kind, env) if kind != "plain" and program == "scaling" else None)


def find_places(kinds: list[str], name: str, python: Path, wheels: dict[str, Path]) -> dict[str, Place]:
    """Return the place of each side, ours first; report the reason for a missing peer. Raises Missing for ours."""
    found = {}
    for kind in kinds:
        try:
            wheel = wheels["ffi_hpy"] if kind == "bound" else wheels.get(kind, Path())
            found[kind] = find_place(kind, name, python, wheel)
        except Missing as reason:
            if kind not in PEERS:
                raise
            say(f"{kind} is left out: {reason}")
    return found
