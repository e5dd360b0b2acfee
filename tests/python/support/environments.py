"""Environments of the tested interpreter with ffi_hpy; pip and uv to change them; wheels to install there."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.native_build import PACKAGE, ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PROVIDE = """
import sys
sys.path.insert(0, sys.argv[1])
from ci.provision.envs import cached_env
from ci.provision.tools import tool
print(cached_env(f"pip-{sys.argv[3]}", sys.argv[2], ["pip"]))
print(tool("uv"))
"""
_NOT_INHERITED = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPYCACHEPREFIX",
    "VIRTUAL_ENV",
    "FFI_HPY_CONTEXT",  # needs the package hpy
    "PIP_",
    "UV_",
)
"""Beginnings of the names of variables that would change the interpreter, pip or uv."""
SECONDS = 120

ANSWERS = """
import importlib.metadata, importlib.util
found = [d.version for d in importlib.metadata.distributions(name="apache-tvm-ffi")]
name = None
if importlib.util.find_spec("tvm_ffi") is not None:
    import tvm_ffi
    name = tvm_ffi.__name__
print(name, found[0] if found else None)
"""
"""Prints the package that answers as tvm_ffi, and the version of the distribution."""


@functools.cache
def _provided() -> tuple[Path, str]:
    """Return an environment of the tested interpreter with pip, and the path of uv."""
    # Not with the Python of the tests' environment, which may lack pip and thus the configured package index.
    outside = os.pathsep.join(p for p in os.get_exec_path() if not Path(p).is_relative_to(sys.prefix))
    python = shutil.which("python3", path=outside) or sys.executable
    label = str(sys.implementation.cache_tag)
    done = subprocess.run(
        [python, "-B", "-c", _PROVIDE, str(ROOT), sys.executable, label], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    folder, uv = done.stdout.split("\n")[:2]
    return Path(folder), uv


def packages_of(env: Path) -> Path:
    """Return the folder of packages of an environment."""
    (found,) = env.glob("lib/py*/site-packages")
    return found


class Environment:
    """A virtual environment with pip, and with ffi_hpy unless `has_ffi_hpy` is false."""

    def __init__(self, folder: Path, has_ffi_hpy: bool = True, sees_system: bool = False) -> None:
        with_pip, self._uv = _provided()
        self.folder = folder
        """The path of the environment, and the working directory of its processes."""
        self.python = folder / "bin" / "python"
        path = os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", os.defpath)])
        self.variables = {"PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_NO_CACHE": "1"}
        options = ["--system-site-packages"] if sees_system else []
        self._run([self._uv, "venv", "--quiet", *options, "--python", sys.executable, folder])
        self.packages = packages_of(folder)
        (self.packages / "with_pip.pth").write_text(f"{packages_of(with_pip)}\n")
        if has_ffi_hpy:
            shutil.copytree(PACKAGE, self.packages / "ffi_hpy", ignore=shutil.ignore_patterns("__pycache__"))
            metadata = Path(str(importlib.metadata.distribution("ffi-hpy")._path))  # type: ignore[attr-defined]
            shutil.copytree(metadata, self.packages / metadata.name)

    def _run(
        self,
        command: Sequence[str | Path],
        fails: bool | None = False,
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> str:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
        done = subprocess.run(
            [str(word) for word in command],
            env={**inherited, **self.variables},
            cwd=cwd,
            preexec_fn=before,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        assert fails in (None, done.returncode != 0), f"{command} ended with {done.returncode}: {done.stdout}"
        return done.stdout

    def run(self, *arguments: str | Path, fails: bool = False, before: Callable[[], None] | None = None) -> str:
        """Return the interpreter's output, including stderr. With `fails` the exit status must not be 0; `before` runs
        first in the process."""
        return self._run([self.python, *arguments], fails, self.folder, before)

    def command(self, *words: str | Path) -> str:
        """Return the output of a command that is found on PATH."""
        found = shutil.which(str(words[0]), path=self.variables["PATH"])
        assert found, f"{words[0]} is not on PATH"
        return self._run([found, *words[1:]])

    def dropin(self, *arguments: str, fails: bool = False, before: Callable[[], None] | None = None) -> str:
        """Return the output of `python -m ffi_hpy.dropin`."""
        return self.run("-m", "ffi_hpy.dropin", *arguments, fails=fails, before=before)

    def dropin_at_once(self, runs: Sequence[Sequence[str]]) -> list[str]:
        """Return the error messages of several `python -m ffi_hpy.dropin` that run at the same time."""
        with ThreadPoolExecutor(len(runs)) as pool:
            said = pool.map(lambda words: self._run([self.python, "-m", "ffi_hpy.dropin", *words], fails=None), runs)
            return [text for text in said if "Traceback" in text or "ffi_hpy.dropin:" in text]

    def install_with(self, installer: str, *arguments: str | Path, fails: bool = False) -> str:
        """Return the output of `pip ARGUMENT...` or `uv pip ARGUMENT...`, without a package index."""
        command, *rest = arguments
        if command == "uninstall" and installer == "pip":
            rest.insert(0, "-y")
        if command == "install":
            rest.insert(0, "--no-index")
        if installer == "pip":
            return self.run("-m", "pip", command, *rest, fails=fails)
        return self._run([self._uv, "pip", command, "--offline", "--python", self.python, *rest], fails)

    def files(self) -> dict[str, bytes | None]:
        """Return everything in the environment by its path, files with their content."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.folder.rglob("*"))
            if "__pycache__" not in path.parts and path.name != ".lock"  # uv leaves it
        }

    def packages_named(self, word: str) -> list[str]:
        """Return the names of packages that contain a word. PyPy 7.3 cannot glob for two stars."""
        return sorted(path.name for path in self.packages.iterdir() if word in path.name)

    def complaints(self, installer: str) -> list[str]:
        """Return the complaints of `pip check` or `uv pip check` about ffi_hpy, or about ffi_hpy in place of another
        package."""
        command = [self.python, "-m", "pip", "check"]
        if installer == "uv":
            command = [self._uv, "pip", "check", "--offline", "--python", self.python]
        return [line for line in self._run(command, fails=None).splitlines() if "ffi-hpy" in line or "tvm" in line]


def make_wheel(folder: Path, name: str, version: str, modules: dict[str, str], requires: Sequence[str] = ()) -> Path:
    """Make a wheel of modules, given as source texts."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    files = {
        **modules,
        f"{stem}.dist-info/METADATA": metadata,
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{stem}.dist-info/RECORD"])
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in {**files, f"{stem}.dist-info/RECORD": record}.items():
            archive.writestr(file, text)
    return wheel
