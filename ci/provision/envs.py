"""Environments for the ci scripts: tools from PyPI, and a virtual environment for each interpreter.

Everything lies in the cache (see matrix.cache_dir), keyed by what it was made of, and is made once. Installing is
done with uv from outside, so an interpreter needs neither pip nor SSL.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from matrix import BY_NAME, cache_dir, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CI = Path(__file__).resolve().parent
ROOT = CI.parent

# Variables that would change what a Python process does, or which packages it sees.
_NOT_INHERITED = ("PYTHONPATH", "PYTHONHOME", "PYTHON_GIL", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


class Missing(Exception):
    """Something the scripts need cannot be had. The message is one line: what, why, and what to do about it."""


# --- running commands -----------------------------------------------------------------------------------------------


def clean_environ(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a Python process of ours: nothing inherited that changes it, no bytecode written."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def last_line(text: str) -> str:
    """Return the last line of `text` that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def output_of(
    command: Sequence[str | Path],
    extra: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> str:
    """Return what `command` prints on stdout; its stderr is kept back. Raises Missing if it fails or takes too long."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env=clean_environ(extra),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"{words[0]} gave no answer in {timeout:g} s") from None
    except OSError as error:
        raise Missing(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        shown, *more = " ".join(words).splitlines()
        shown += " ..." if more else ""
        raise Missing(f"{shown}: exit status {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, which the system lets go of when the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run, which holds {path}")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def run_main(main: object, program: str) -> None:
    """Run `main()` as the process: its result is the exit status, a Missing is one line on stderr and status 1."""
    try:
        sys.exit(main())  # type: ignore[operator]
    except Missing as reason:
        say(f"{program}: {reason}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


# --- uv -------------------------------------------------------------------------------------------------------------

# pip's option: (uv's variable, what separates several values in it)
_FROM_PIP = {
    "index-url": ("UV_DEFAULT_INDEX", None),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "no-index": ("UV_NO_INDEX", None),
    "cert": ("SSL_CERT_FILE", None),
}


def pip_settings() -> dict[str, str]:
    """Return the options that pip is configured with, from its files and from PIP_*; empty where there is no pip."""
    rank = {"global": 0, "install": 1, ":env:": 2}
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True)
    found: dict[str, tuple[int, str]] = {}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(\S+?)\.([a-z-]+)=(.*)", line)
        if match and match[1] in rank:
            found[match[2]] = max(found.get(match[2], (-1, "")), (rank[match[1]], str(ast.literal_eval(match[3]))))
    return {option: value for option, (_, value) in found.items()}


@functools.cache
def uv_environ() -> tuple[tuple[str, str], ...]:
    """Return the variables that make uv look where pip would; what the caller has set for uv comes first."""
    settings = {"UV_CACHE_DIR": str(cache_dir() / "uv-cache"), "UV_INDEX_STRATEGY": "unsafe-best-match"}
    for option, value in pip_settings().items():
        if option in _FROM_PIP:
            variable, separator = _FROM_PIP[option]
            settings[variable] = separator.join(value.split()) if separator else value
    return tuple((name, value) for name, value in settings.items() if name not in os.environ)


@functools.cache
def tool(name: str) -> str:
    """Return the command `name`: from PATH, else from its package on PyPI, kept in the cache. Raises Missing."""
    on_path = shutil.which(name)
    if on_path and _runs(on_path):
        return on_path
    folder = cache_dir() / "tools" / name
    command = folder / "bin" / name
    with locked(folder.with_name(f".{name}.lock")):
        if not _runs(command):
            say(f"{name}: installing it from PyPI ...")
            output_of([sys.executable, "-m", "venv", "--clear", folder])
            output_of([folder / "bin" / "python", "-m", "pip", "install", name])
            output_of([command, "--version"])
    return str(command)


def _runs(command: str | Path) -> bool:
    try:
        return subprocess.run([str(command), "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def run_uv(*arguments: str | Path) -> None:
    """Run uv, which sees the package index that pip is configured for. Raises Missing if it fails."""
    output_of([tool("uv"), *arguments], dict(uv_environ()))


# --- environments ---------------------------------------------------------------------------------------------------


def make_env(folder: Path, python: str | Path) -> None:
    """Make an empty virtual environment of the interpreter `python`, in place of what is in `folder`."""
    run_uv("venv", "--quiet", "--clear", "--python", python, folder)


def install(env: Path, *arguments: str | Path) -> None:
    """Install into an environment; the arguments are those of `uv pip install`."""
    run_uv("pip", "install", "--quiet", "--python", python_of(env), *arguments)


def python_of(env: Path) -> Path:
    return env / "bin" / "python"


def cached_env(label: str, python: str | Path, requirements: Sequence[str | Path]) -> Path:
    """Return an environment of `python` with `requirements` installed: words for uv, or a Path of a requirements file.

    It is made anew when the interpreter or a requirement has changed. Raises Missing.
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
    """Return what tells one interpreter from another, and from a newer one at the same place."""
    return f"{python} {output_of([python, '-I', '-c', 'import sys; print(sys.version)'])}"


def _text_of(requirements: Sequence[str | Path]) -> str:
    """Return the text of requirements, with that of the files that they include."""
    parts = []
    for item in requirements:
        text = item.read_text() if isinstance(item, Path) else item
        parts.append(text)
        if isinstance(item, Path):
            included = re.findall(r"^-r (\S+)$", text, re.MULTILINE)
            parts.append(_text_of([item.with_name(name) for name in included]))
    return "\n".join(parts)


def tool_env(label: str, *requirements: str | Path) -> Path:
    """Return the folder of commands of a cached environment of the running Python."""
    return cached_env(label, sys.executable, requirements) / "bin"


def build_requirements() -> list[str]:
    """Return `build-system.requires` of pyproject.toml, so that it is written once."""
    # Python 3.9 has no TOML reader; an array of strings reads the same in Python.
    found = re.search(r"^\[build-system\]\nrequires = (\[.*?^\])", (ROOT / "pyproject.toml").read_text(), re.M | re.S)
    if not found:
        raise Missing("pyproject.toml has no [build-system] that begins with `requires = [`")
    return list(ast.literal_eval(found[1]))


def build_env() -> Path:
    """Return the folder of commands of an environment that can build the wheel: it has zig, too."""
    return tool_env("tool-build", *build_requirements())


def install_wheel(env: Path, wheel: Path) -> None:
    """Install this very wheel file into an environment that nobody else uses now, in place of an earlier one."""
    stamp = env / "wheel.sha256"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        stamp.unlink(missing_ok=True)
        install(env, "--reinstall-package", "ffi-hpy", wheel)
        stamp.write_text(digest)


# --- what the scripts share -----------------------------------------------------------------------------------------


def build_wheel() -> Path:
    """Return the wheel of this checkout, built by ci/wheel if it is not up to date. Raises Missing."""
    return Path(_stdout_of_script("wheel").strip())


def find_interpreters(wanted: Sequence[str]) -> dict[str, Path]:
    """Return the interpreters that ci/interpreters can provide; it says on stderr why it cannot provide the others."""
    if not wanted:
        return {}
    lines = _stdout_of_script("interpreters", *wanted, may_fail=True).splitlines()
    return {name: Path(path) for name, _, path in (line.partition(" ") for line in lines) if name in BY_NAME}


def _stdout_of_script(name: str, *arguments: str, may_fail: bool = False) -> str:
    """Return the stdout of another ci script, whose stderr goes where ours goes."""
    command = [sys.executable, str(CI / name), *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    )
    if done.returncode != 0 and not may_fail:
        raise Missing(f"ci/{name} failed")
    return done.stdout


def find_c_compiler() -> list[str]:
    """Return the words that run a C compiler for this machine: CC, or cc, gcc, clang on PATH. Raises Missing."""
    return _find_compiler("C", "CC", ("cc", "gcc", "clang"))


def find_cxx_compiler() -> list[str]:
    """Return the words that run a C++ compiler for this machine: CXX, or c++, g++, clang++. Raises Missing."""
    return _find_compiler("C++", "CXX", ("c++", "g++", "clang++"))


def find_gcc_cxx() -> list[str]:
    """Return the words that run GCC's C++ compiler. Raises Missing."""
    if shutil.which("g++") is None:
        raise Missing("there is no g++ on PATH; install one")
    return ["g++"]


def find_clang() -> list[str]:
    """Return the words that run the clang of ci/clang; `--driver-mode=g++` makes it clang++. Raises Missing."""
    return [_stdout_of_script("clang").strip()]


def _find_compiler(language: str, variable: str, commands: Sequence[str]) -> list[str]:
    named = os.environ.get(variable, "").split()
    for words in [named] if named else [[command] for command in commands]:
        if shutil.which(words[0]):
            return words
    tried = f"{variable} names {named[0]}, which is not there" if named else f"none of {', '.join(commands)} on PATH"
    raise Missing(f"no {language} compiler: {tried}; install one, or set {variable}")


def find_nvcc() -> str | None:
    """Return the path of CUDA's compiler: CUDA_HOME, CUDA_PATH, PATH or the usual place has it. None without one."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    first, second, usual = [str(Path(home, "bin")) if home else "" for home in homes]
    return shutil.which("nvcc", path=os.pathsep.join([first, second, os.environ.get("PATH", ""), usual]))


def table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the first of which is the heading, as columns of text."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
