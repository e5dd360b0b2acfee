"""Packages on PyPI that are bound with nanobind: built unchanged, with nanobind and with ffi_hpy in its place."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ci.lib.folders import LOGS, REQUIREMENTS, ROOT
from ci.lib.messages import Missing
from ci.lib.process import clean_environ, output_of, run_logged
from ci.provision.compilers import find_cxx_compiler
from ci.provision.envs import install, make_env, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.clients.tvm_ffi_run import Outcome, compare, parse, print_results, read_outcome

RUNTIME = "nanobind==3.1.0"
BUILD = ("cmake", "ninja", "scikit-build-core>=0.10")
# Only the extension module, with little optimisation.
GEMMI = (
    *("BUILD_GEMMI_PROGRAM=OFF", "INSTALL_DEV_FILES=OFF", "BUILD_SHARED_LIBS=OFF", "GENERATE_STUBS=OFF"),
    *("CMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF", "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"),
)


@dataclass(frozen=True)
class Client:
    """One package; its sdist has its tests."""

    release: str  # NAME==VERSION
    packages: tuple[str, ...] = ()  # additional requirements of the tests
    unstable: tuple[str, ...] = ()  # tests that measure time
    is_quick: bool = False  # whether it is part of `ci/clients --short`
    folder: str = "."  # of the package, in its sdist
    tests: str = "tests"  # in this folder
    environ: tuple[tuple[str, str], ...] = ()  # variables for the build
    then: tuple[str, ...] = ()  # a module and its arguments, which run once the package is installed
    nanobind: str = RUNTIME  # the release that the package compiles with

    @property
    def name(self) -> str:
        return self.release.partition("==")[0]


CLIENTS = (
    Client("fast-dedup==0.1.0", ("xxhash",), is_quick=True),
    Client("nano-astar==0.1.2", ("networkx", "numpy"), unstable=("test_gil_released_under_threads",)),
    Client("softcut-py==0.4.2", ("numpy",)),  # callables of Python that C++ keeps
    Client(  # the package that tests the code generator: trampolines, 1,900 lines of bindings
        "litgen==0.22.0",
        ("numpy",),
        folder="src/litgen/integration_tests",
        tests="mylib",
        environ=(("LITGEN_USE_NANOBIND", "ON"),),
        then=("lg_mylib.use", "nanobind"),
    ),
    Client(  # 22 files of bindings, which take minutes to compile
        "gemmi==0.7.5",
        ("numpy",),
        environ=(("SKBUILD_CMAKE_ARGS", ";".join(f"-D{each}" for each in GEMMI)),),
        nanobind="nanobind==2.15.0",
    ),
)


def run(name: str, python: Path, client: Client, wheel: Path | None, extra: list[str]) -> Outcome:
    """Build and install a package with ours (`wheel`) or with nanobind (None), and run its tests."""
    log = LOGS / f"clients-{name}-{client.name}-{'ours' if wheel else 'nanobind'}.log"
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
        env = Path(scratch, "env")
        environ = {"PATH": os.pathsep.join([str(env / "bin"), "/usr/bin", "/bin"])}
        try:
            find_cxx_compiler()
            source = Path(scratch, "source")  # apart from the other packages of the sdist, which pytest would import
            shutil.copytree(fetch_sdist(client.release, "clients") / client.folder, source)
            make_env(env, python)
            install(env, "-r", REQUIREMENTS / "clients.txt", *BUILD, *client.packages)
            install(env, wheel or client.nanobind)
            if wheel is not None:
                output_of([python_of(env), "-m", "ffi_hpy.dropin", "install", "nanobind"], cwd=env)
            install(env, "--no-deps", "--no-build-isolation", source, environ=dict(client.environ))
            if client.then:
                output_of([python_of(env), "-m", *client.then], cwd=env)
        except Missing as reason:
            return Outcome(problem=str(reason))
        command = [str(python_of(env)), "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-c", os.devnull]
        command += ["--rootdir", scratch]
        command += [f"-k=not {' and not '.join(client.unstable)}"] if client.unstable else []
        status = run_logged([*command, str(source / client.tests), *extra], log, clean_environ(environ), Path(scratch))
    return read_outcome(log.read_text(errors="replace"), status)


def main(parser: argparse.ArgumentParser) -> int:
    options, chosen, extra = parse(parser)
    wheel, pythons = build_wheel(), find_interpreters(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = [["NAME", "package", "nanobind", "ours"]]
    problems = [f"{name}: ci/interpreters cannot provide it, see above" for name in chosen if name not in pythons]
    for name, python in pythons.items():
        for client in CLIENTS:
            if options.only and client.name not in options.only:
                continue
            theirs, ours = run(name, python, client, None, extra), run(name, python, client, wheel, extra)
            rows.append([name, client.release, theirs.counts or "-", ours.counts or "-"])
            problem = compare(theirs, ours)
            problems += [f"{name}: {client.name}: {problem}"] if problem else []
    return print_results(rows, problems)
