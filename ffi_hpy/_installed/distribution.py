"""What is written for pip, uv and importlib.metadata: the distribution apache-tvm-ffi that is ffi_hpy.

All of it is one folder `apache_tvm_ffi-VERSION.dist-info`, but for what must stand elsewhere: a .pth file, which puts
the folder `module` of that folder on sys.path, and the two commands. The .pth names nothing as long as the folder is
not there, so that renaming the folder is what installs, and uninstalls, everything at once.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import re
import sys
from pathlib import Path

from .identity import ABI_VERSION, INSTALLER
from .place import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .place import Place

__all__ = [
    "COMMANDS",
    "MARK",
    "PTH",
    "StandIn",
    "check_version",
    "find_stand_ins",
    "is_stand_in",
    "recorded_files",
]

MARK = "# Written by python -m ffi_hpy.dropin install"
"""The line by which a command of ours is told from another of its name."""
PTH = "ffi_hpy_dropin-{}.pth"
COMMANDS = {"tvm-ffi-config": "tvm_ffi.config:main", "tvm-ffi-stubgen": "tvm_ffi.stub.cli:main"}

_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?")

_METADATA = """\
Metadata-Version: 2.1
Name: apache-tvm-ffi
Version: {version}
Summary: ffi_hpy in the place of apache-tvm-ffi. `python -m ffi_hpy.dropin uninstall` removes it
Requires-Python: >=3.9
Provides-Extra: cpp
Requires-Dist: ninja; extra == "cpp"
"""
_REQUIRES_US = "Requires-Dist: ffi-hpy\n"

_WHEEL = """\
Wheel-Version: 1.0
Generator: ffi_hpy.dropin
Root-Is-Purelib: true
Tag: py3-none-any
"""

_MODULE = '''\
"""tvm_ffi in this environment: ffi_hpy, until `python -m ffi_hpy.dropin uninstall`."""

import os
import sys

PACKAGE = {package!r}

try:
    import ffi_hpy
except ModuleNotFoundError as error:
    if error.name != "ffi_hpy":
        raise
    if not os.path.exists(PACKAGE):
        raise ModuleNotFoundError(
            "tvm_ffi is answered for by ffi_hpy here, which is not installed any more: install ffi-hpy again, or"
            " uninstall apache-tvm-ffi", name=__name__
        ) from None
    import importlib
    import runpy

    runpy.run_path(os.path.join(PACKAGE, "_run.py"))["import_package"]()
    ffi_hpy = importlib.import_module("ffi_hpy")

from ffi_hpy import dropin

del sys.modules[__name__]  # otherwise install() would take this module for another tvm_ffi
dropin.install()
sys.modules[__name__] = ffi_hpy  # the import that runs this module returns ffi_hpy
'''

_COMMAND = """\
{first_lines}
{mark}
import sys

from {module} import {function}

sys.exit({function}())
"""


class StandIn:
    """The files of the distribution, as they are written into a place."""

    def __init__(self, place: Place, version: str) -> None:
        self.folder = place.packages / f"apache_tvm_ffi-{version}.dist-info"
        self.pth = place.packages / PTH.format(version)
        package = Path(__file__).absolute().parents[1]
        is_installed = any(importlib.metadata.distributions(name="ffi-hpy", path=search_path()))
        entries = "".join(f"{name} = {function}\n" for name, function in COMMANDS.items())
        self.outside = {self.pth: f"{self.folder.name}/module\n"}
        """The texts of the files outside of the folder, by their paths."""
        for name, function in COMMANDS.items():
            self.outside[place.commands / name] = _command(*function.split(":"))
        self.inside = {
            "METADATA": _METADATA.format(version=version) + (_REQUIRES_US if is_installed else ""),
            "WHEEL": _WHEEL,
            "INSTALLER": f"{INSTALLER}\n",
            "REQUESTED": "",
            "entry_points.txt": f"[console_scripts]\n{entries}",
            "top_level.txt": "tvm_ffi\n",
            "module/tvm_ffi.py": _MODULE.format(package=str(package)),
        }
        """The texts of the files in the folder, by their names in it."""
        lines = [_record_line(self.folder / name, text, place) for name, text in self.inside.items()]
        lines += [_record_line(path, text, place) for path, text in self.outside.items()]
        self.inside["RECORD"] = "".join([*lines, f"{self.folder.name}/RECORD,,\n"])

    def is_written(self) -> bool:
        """Whether every file is there as it would be written."""
        files = {**self.outside, **{self.folder / name: text for name, text in self.inside.items()}}
        return all(path.is_file() and path.read_bytes() == text.encode() for path, text in files.items())


def _command(module: str, function: str) -> str:
    """The text of a command. What is too long for a first line, or has a space, is started by sh, to which the second
    line is a command and to Python a string."""
    python = sys.executable
    first_lines = f"#!{python}"
    if " " in python or len(first_lines.encode()) > 127:
        first_lines = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"
    return _COMMAND.format(first_lines=first_lines, mark=MARK, module=module, function=function)


def _record_line(path: Path, text: str, place: Place) -> str:
    data = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    name = os.path.relpath(path, place.packages)
    quoted = f'"{name}"' if "," in name else name
    return f"{quoted},sha256={digest},{len(data)}\n"


def check_version(version: str) -> str:
    """Return the version. ValueError if it is not one that pip would take."""
    if not _VERSION.fullmatch(version):
        raise ValueError(f"--as: expected a version such as {ABI_VERSION}, got {version!r}")
    return version


def is_stand_in(folder: Path) -> bool:
    """Whether a folder of metadata is of a stand-in, and not of the real apache-tvm-ffi."""
    try:
        return (folder / "INSTALLER").read_text().strip() == INSTALLER
    except (OSError, UnicodeDecodeError):
        return False


def find_stand_ins(place: Place) -> list[Path]:
    """Return the folders of stand-ins in a place: one, or none."""
    return [folder for folder in sorted(place.packages.glob("apache_tvm_ffi-*.dist-info")) if is_stand_in(folder)]


def recorded_files(folder: Path) -> set[Path]:
    """Return the files that a stand-in says it has."""
    found = importlib.metadata.PathDistribution(folder).files or ()
    return {Path(os.path.normpath(folder.parent / file)) for file in found}
