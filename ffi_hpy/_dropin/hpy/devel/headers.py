"""Finds the headers and C helpers of hpy. The headers belong to hpy, so ffi_hpy has no copy of them.

The build of ffi_hpy runs this file, too, so it imports nothing from this package.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

__all__ = ["VERSION", "HeadersError", "find_devel"]

VERSION = "0.9.0"

# The wheel is only unpacked, never imported, so one wheel serves every Python that may run the build.
_WHEEL_SELECTION = ["--platform", "manylinux2014_x86_64", "--python-version", "3.11", "--implementation", "cp"]
_WHEEL_SHA256 = "48b42aff81a6797ad01d314940d8aadddedeb987c42f00453079553c15fbf70a"
_NEEDED = ("include/hpy.h", "src/runtime/argparse.c")
_LICENSE = "LICENSE"


class HeadersError(RuntimeError):
    """The headers are not available. The message is one line for a person: the missing part, and the remedy."""


def find_devel(cache: Path) -> Path:
    """Return an `hpy/devel` folder of version 0.9.0, with its `include` and `src/runtime`.

    In this order: the folder that FFI_HPY_HPY_DIR names; the copy in `cache`; an installed hpy, copied into `cache`;
    the wheel, fetched by pip and unpacked into `cache`. The copy keeps the path the same in every build environment, so
    that objects stay up to date.
    """
    named = os.environ.get("FFI_HPY_HPY_DIR")
    if named:
        return _checked(Path(named).resolve())
    copy = cache / f"hpy-{VERSION}" / "devel"
    if not is_complete(copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent) as scratch:
            staged = Path(scratch, "devel")
            installed = _installed_devel()
            if installed is not None:
                _copy_devel(installed, staged)
            else:
                _fetch_devel(staged)
            _put(staged, copy)
    return copy


def is_complete(devel: Path) -> bool:
    """Whether a folder has headers and C helpers."""
    return all((devel / name).is_file() for name in _NEEDED)


def _put(staged: Path, target: Path) -> None:
    """Move a folder to its place, unless another process has done so in the meantime."""
    try:
        if target.exists() and not is_complete(target):
            shutil.rmtree(target)
        staged.rename(target)
    except OSError:
        if not is_complete(target):
            raise


def _checked(devel: Path) -> Path:
    """Return `devel` if it is an hpy/devel folder of the right version."""
    if not is_complete(devel):
        raise HeadersError(f"FFI_HPY_HPY_DIR: {devel} is not an hpy/devel folder (no {' or no '.join(_NEEDED)} in it)")
    version = _version_of(devel)
    if version not in (None, VERSION):
        raise HeadersError(f"FFI_HPY_HPY_DIR: {devel} is of hpy {version}, and {VERSION} is needed")
    return devel


def _version_of(devel: Path) -> str | None:
    """Return the version in version.py of `devel`, or None if there is none."""
    try:
        found = re.search(r'__version__ = "([^"]+)"', (devel / "version.py").read_text())
    except OSError:
        return None
    return found.group(1) if found else None


def _installed_devel() -> Path | None:
    """Return the folder of an installed `hpy.devel` of the right version with headers. Nothing is imported."""
    for entry in sys.path:
        devel = Path(entry or ".", "hpy", "devel").resolve()
        if is_complete(devel) and _version_of(devel) == VERSION:
            return devel
    return None


def _copy_devel(installed: Path, target: Path) -> None:
    for part in ("include", "src"):
        shutil.copytree(installed / part, target / part)
    for license_file in installed.parent.parent.glob(f"hpy-*.dist-info/**/{_LICENSE}"):
        shutil.copyfile(license_file, target / _LICENSE)


def _fetch_devel(target: Path) -> None:
    """Unpack hpy/devel into `target` from the wheel that pip downloads."""
    hint = "set FFI_HPY_HPY_DIR to an unpacked hpy/devel folder to build without it"
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += [*_WHEEL_SELECTION, "--dest", scratch, f"hpy=={VERSION}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            said = done.stdout.strip().splitlines()
            raise HeadersError(
                f"pip cannot fetch the headers of hpy {VERSION} ({said[-1] if said else 'it says nothing'}); {hint}"
            )
        digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
        if digest != _WHEEL_SHA256:
            raise HeadersError(f"{wheels[0].name} has sha256 {digest}, and {_WHEEL_SHA256} was expected; {hint}")
        with zipfile.ZipFile(wheels[0]) as archive:
            archive.extractall(scratch)
        _copy_devel(Path(scratch, "hpy", "devel"), target)
