"""Virtual environments, each keyed by its interpreter and packages, and made once.

uv installs into them from outside, so an interpreter needs neither pip nor SSL.
"""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT, cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.tools import run_uv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


FIND_ZIG = "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name('zig'))"
"""A program that prints the path of zig, for the environment of build_env."""


def make_env(folder: Path, python: str | Path) -> None:
    """Make an empty virtual environment of the interpreter `python`, and replace the content of `folder`."""
    run_uv("venv", "--quiet", "--clear", "--python", python, folder)


def install(env: Path, *arguments: str | Path, environ: Mapping[str, str] | None = None) -> None:
    """Install into an environment, with the arguments of `uv pip install`. Builds see the variables `environ`."""
    run_uv("pip", "install", "--quiet", "--python", python_of(env), *arguments, environ=environ)


def python_of(env: Path) -> Path:
    return env / "bin" / "python"


def bytecode_of(env: Path) -> Path:
    """Return the folder for the bytecode of all modules that the environment's interpreter imports, for
    PYTHONPYCACHEPREFIX. The packages of an environment, and some interpreters, come without bytecode."""
    return env / "bytecode"


def cached_env(label: str, python: str | Path, requirements: Sequence[str | Path]) -> Path:
    """Return an environment of `python` with `requirements` installed: words for uv, or a Path of a requirements file.

    The environment is rebuilt when the interpreter or a requirement has changed. Raises Missing.
    """
    key = hashlib.sha256(f"{_describe(python)}\n{_text_of(requirements)}".encode()).hexdigest()[:12]
    folder = cache_dir() / "envs" / f"{label}-{key}"
    complete = folder / "complete"
    words: list[str | Path] = []
    with locked(folder.with_name(f".{label}-{key}.lock")):
        if not complete.exists():
            say(f"{label}: making its environment ...")
            make_env(folder, python)
            for item in requirements:
                words += ["-r", item] if isinstance(item, Path) else [item]
            if words:
                install(folder, *words)
            complete.touch()
    return folder


def _describe(python: str | Path) -> str:
    """Return a text that differs between interpreters, and between an interpreter and a newer one at the same path."""
    return f"{python} {output_of([python, '-I', '-c', 'import sys; print(sys.version)'])}"


def _text_of(requirements: Sequence[str | Path]) -> str:
    """Return the text of requirements, and of the files that they include."""
    parts = []
    for item in requirements:
        text = item.read_text() if isinstance(item, Path) else item
        parts.append(text)
        if isinstance(item, Path):
            included = re.findall(r"^-r (\S+)$", text, re.MULTILINE)
            parts.append(_text_of([item.with_name(name) for name in included]))
    return "\n".join(parts)


def tool_env(label: str, *requirements: str | Path) -> Path:
    """Return the folder of commands in a cached environment of the running Python."""
    return cached_env(label, sys.executable, requirements) / "bin"


def add_packages(label: str, *requirements: str | Path) -> None:
    """Let the running Python import packages of plain Python from a cached environment."""
    folder = next(tool_env(label, *requirements).parent.glob("lib/python*/site-packages"))
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def build_requirements() -> list[str]:
    """Return `build-system.requires` of pyproject.toml, which is the only place of this list."""
    # Python 3.9 has no TOML reader; an array of strings reads the same in Python.
    found = re.search(r"^\[build-system\]\nrequires = (\[.*?^\])", (ROOT / "pyproject.toml").read_text(), re.M | re.S)
    if not found:
        raise Missing("pyproject.toml has no [build-system] that begins with `requires = [`")
    return list(ast.literal_eval(found[1]))


def build_env() -> Path:
    """Return the folder of commands in an environment that can build the wheel; it has zig, too."""
    return tool_env("tool-build", *build_requirements())


def install_wheel(env: Path, wheel: Path) -> None:
    """Install exactly this wheel file into an environment, in place of an earlier wheel. No other program may use
    the environment at this time."""
    stamp = env / "wheel.sha256"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        stamp.unlink(missing_ok=True)
        for stale in [*bytecode_of(env).rglob("site-packages/ffi_hpy")]:
            shutil.rmtree(stale)
        install(env, "--reinstall-package", "ffi-hpy", wheel)
        stamp.write_text(digest)
