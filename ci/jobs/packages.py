"""The packaging examples: pip builds them as wheels, for this machine or another one, and their tests run where the
wheels are installed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import REQUIREMENTS, ROOT, locked
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import clean_environ
from ci.provision.compilers import find_cxx_compiler
from ci.provision.envs import cached_env, install, install_wheel, make_env, python_of

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = ("packaging", "packaging_setuptools", "binding")
"""Folders of examples/; each makes one wheel with one library and one package."""
NOT_COPIED = shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "__pycache__", ".pytest_cache")


@dataclass(frozen=True)
class Building:
    """The settings of a build of the examples."""

    env: Path  # has ffi_hpy for this machine, and the build tools
    environ: dict[str, str] = field(default_factory=dict)  # the variables of a build for another machine
    platform: str = r"\w+"  # a pattern of the platform in the wheels' names
    runs_here: bool = True  # whether this machine can load the built libraries


def run(command: list[str | Path], what: str, cwd: Path, extra: dict[str, str] | None = None) -> str:
    """Return the output of a command. If it fails, print its output and raise Missing."""
    done = subprocess.run(
        [str(word) for word in command],
        env=clean_environ(extra),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        say(done.stdout.rstrip())
        raise Missing(f"{what}: exit status {done.returncode}: {last_line(done.stdout)}")
    return done.stdout


def build_tools() -> Path:
    """Return the environment that the examples are built in, without ffi_hpy. Raises Missing."""
    return cached_env("packaging-build", sys.executable, [REQUIREMENTS / "packaging.txt"])


@contextlib.contextmanager
def used(building: Building, ours: Path) -> Iterator[None]:
    """Install the wheel of ffi_hpy in the build environment, and keep other processes out of it."""
    with locked(building.env.with_name(f".{building.env.name}.use.lock")):
        install_wheel(building.env, ours)
        yield


def build_examples(scratch: Path, building: Building) -> list[Path]:
    """Copy the examples to `scratch`, under their names, and return their wheels. Raises Missing."""
    for name in EXAMPLES:
        shutil.copytree(ROOT / "examples" / name, scratch / name, ignore=NOT_COPIED)
    return [build_one(building, scratch / name) for name in EXAMPLES]


def environ_of(building: Building) -> dict[str, str]:
    """Return the variables of a build."""
    path = f"{building.env / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    compiler = " ".join(find_cxx_compiler())
    return {"PATH": path, "CXX": compiler, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **building.environ}


def build_one(building: Building, project: Path) -> Path:
    """Build the project in a folder, check the wheel and the stubs, and return the wheel. Raises Missing."""
    before = sources_of(project)
    command = [python_of(building.env), "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    run([*command, "-w", project / "dist", project], f"building {project.name}", project, environ_of(building))
    if sources_of(project) != before:
        raise Missing(f"building {project.name} has changed its sources")
    (wheel,) = (project / "dist").glob("*.whl")
    if not re.fullmatch(rf"\w+-[\d.]+-py3-none-{building.platform}", wheel.stem):
        raise Missing(f"{wheel.name} is not for every Python on {building.platform}")
    if building.runs_here:
        check_stubs(building, project, wheel)
    return wheel


def check_stubs(building: Building, project: Path, wheel: Path) -> None:
    """Check that a wheel has the stubs that the names of its library produce. Raises Missing."""
    unpacked = project / "unpacked"
    zipfile.ZipFile(wheel).extractall(unpacked)
    (library,) = unpacked.rglob("*.so")
    is_bound = any(unpacked.rglob("*.pyi"))
    arguments = [library] if is_bound else [library.parent, "--dlls", library]
    run([building.env / "bin" / "ffi-hpy-stubgen", *arguments, "--check"], f"the stubs of {project.name}", project)


def check_types(building: Building, env: Path, projects: list[Path]) -> None:
    """Check that mypy accepts the projects' programs in an environment with their wheels: check_types.py or, for a
    project without this file, the tests. Raises Missing."""
    for project in projects:
        options = ["--strict", "--config-file", "", "--python-version", "3.11", "--cache-dir", env / "mypy"]
        command = [python_of(building.env), "-m", "mypy", "--python-executable", python_of(env), *options]
        program = project / "check_types.py"
        program = program if program.exists() else project / "tests"
        run([*command, program], f"the types of {project.name}", env)


def sources_of(project: Path) -> dict[Path, bytes]:
    """Return the content of every Python and C++ file."""
    files = [path for path in project.rglob("*") if path.suffix in {".py", ".cc"} and "build" not in path.parts]
    return {path: path.read_bytes() for path in files}


def run_tests(interpreter: Path, env: Path, wheels: list[Path], projects: list[Path]) -> str:
    """Run the projects' tests in a fresh environment, and return the closing line. Raises Missing."""
    make_env(env, interpreter)
    install(env, "--only-binary", "numpy", "pytest>=8", "numpy; implementation_version < '8'", *wheels)
    empty = env / "empty"
    empty.mkdir()
    options = ["-q", "-W", "error", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir", empty]
    tests = [project / "tests" for project in projects]
    return last_line(run([python_of(env), "-m", "pytest", *options, *tests], f"{env.name}: pytest", empty))
