"""Where the headers and C helpers of hpy come from. They are nobody's but hpy's, so they are not in this repository."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .errors import BuildError

HPY_VERSION = "0.9.0"

# The wheel is only unpacked, never imported, so one wheel serves every Python that may run the build.
_WHEEL_SELECTION = ["--platform", "manylinux2014_x86_64", "--python-version", "3.11", "--implementation", "cp"]
_WHEEL_SHA256 = "48b42aff81a6797ad01d314940d8aadddedeb987c42f00453079553c15fbf70a"
_NEEDED = ("include/hpy.h", "src/runtime/argparse.c")


def find_hpy_devel(cache: Path) -> Path:
    """Return an `hpy/devel` folder of version 0.9.0, with its `include` and `src/runtime`.

    In this order: the folder that FFI_HPY_HPY_DIR names; the copy in `cache`; an installed hpy, copied into `cache`;
    the wheel, fetched by pip and unpacked into `cache`. A copy, so that the path does not change from one build
    environment to the next and objects stay up to date. Raises BuildError.
    """
    named = os.environ.get("FFI_HPY_HPY_DIR")
    if named:
        return _checked(Path(named).resolve())
    copy = cache / f"hpy-{HPY_VERSION}" / "devel"
    if not _is_complete(copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent) as scratch:
            staged = Path(scratch, "devel")
            installed = _installed_devel()
            if installed is not None:
                for part in ("include", "src"):
                    shutil.copytree(installed / part, staged / part)
            else:
                _fetch_devel(staged)
            shutil.rmtree(copy, ignore_errors=True)
            staged.rename(copy)
    return copy


def _is_complete(devel: Path) -> bool:
    return all((devel / name).is_file() for name in _NEEDED)


def _checked(devel: Path) -> Path:
    """Return `devel` if it is an hpy/devel folder of the right version."""
    if not _is_complete(devel):
        raise BuildError(f"FFI_HPY_HPY_DIR: {devel} is not an hpy/devel folder (no {' or no '.join(_NEEDED)} in it)")
    version = _version_of(devel)
    if version not in (None, HPY_VERSION):
        raise BuildError(f"FFI_HPY_HPY_DIR: {devel} is of hpy {version}, and {HPY_VERSION} is needed")
    return devel


def _version_of(devel: Path) -> str | None:
    """Return the version that `devel` says it is of, or None if it does not say."""
    try:
        found = re.search(r'__version__ = "([^"]+)"', (devel / "version.py").read_text())
    except OSError:
        return None
    return found.group(1) if found else None


def _installed_devel() -> Path | None:
    """Return the folder of an importable `hpy.devel` of the right version, without importing it."""
    try:
        spec = importlib.util.find_spec("hpy.devel")
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin:
        return None
    devel = Path(spec.origin).parent
    return devel if _version_of(devel) == HPY_VERSION and _is_complete(devel) else None


def _fetch_devel(target: Path) -> None:
    """Unpack hpy/devel of the wheel that pip can get into `target`."""
    hint = "set FFI_HPY_HPY_DIR to an unpacked hpy/devel folder to build without it"
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += [*_WHEEL_SELECTION, "--dest", scratch, f"hpy=={HPY_VERSION}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            said = done.stdout.strip().splitlines()
            raise BuildError(
                f"pip cannot fetch the headers of hpy {HPY_VERSION} ({said[-1] if said else 'it says nothing'}); {hint}"
            )
        digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
        if digest != _WHEEL_SHA256:
            raise BuildError(f"{wheels[0].name} has sha256 {digest}, and {_WHEEL_SHA256} was expected; {hint}")
        with zipfile.ZipFile(wheels[0]) as archive:
            names = [n for n in archive.namelist() if n.startswith(("hpy/devel/include/", "hpy/devel/src/"))]
            archive.extractall(scratch, names)
        shutil.move(str(Path(scratch, "hpy", "devel")), str(target))
