"""The sides of scaling.py in one archive, for a machine with more cores and without network and interpreter.

The archive has the interpreter, NumPy once, and for each side a command `python` with the side's packages and module.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from scaling_sides import LIBRARY, Place

from ci.lib.messages import say
from ci.lib.process import output_of

START = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
PYTHONPATH=$here/../site:$here/../../numpy exec "$here/../../python/bin/{python}" "$@"
"""
LEFT_OUT = (
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "ensurepip",
    "tkinter",
    "pydoc_data",
    "config-*",
    "*.a",
    "include",
)
OF_NUMPY = ("numpy", "numpy.libs")
OF_COMPILERS = ("nanobind*", "pybind11*", "setuptools*", "pip*")


def copy_tree(source: Path, target: Path, *left_out: str) -> None:
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT, *left_out))


def pack(places: dict[str, Place], python: Path, archive: Path) -> None:
    """Write the archive. Raises Missing."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        root = python.resolve().parents[1]
        copy_tree(root / "lib", folder / "python" / "lib")
        (folder / "python" / "bin").mkdir()
        shutil.copy(python, folder / "python" / "bin" / python.name)
        output_of(["strip", folder / "python" / "bin" / python.name, *(folder / "python").rglob("lib-dynload/*.so")])
        for kind, (env, file, more) in places.items():
            packages = next((env / "lib").glob("python3*/site-packages"))
            for name in OF_NUMPY:
                if not (folder / "numpy" / name).exists():
                    shutil.copytree(packages / name, folder / "numpy" / name)
            copy_tree(packages, folder / kind / "site", *OF_NUMPY, *OF_COMPILERS)
            start = folder / kind / "bin" / "python"
            start.parent.mkdir()
            start.write_text(START.format(python=python.name))
            start.chmod(0o755)
            for library in [file, *([more] if more else [])]:
                shutil.copy(library, folder / kind / library.name)
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive, "w:xz", preset=3) as stream:
            stream.add(folder, ".")
    say(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")


def unpack(archive: Path, folder: Path) -> dict[str, Place]:
    """Return the sides, unpacked into an empty folder."""
    with tarfile.open(archive) as stream:
        stream.extractall(folder, filter="fully_trusted")
    sides = [path.parents[1] for path in folder.glob("*/bin/python")]
    return {side.name: unpacked_place(side) for side in sides}


def unpacked_place(side: Path) -> Place:
    more = side / f"{LIBRARY}.so"
    (file,) = [path for path in side.glob("*.so") if path != more]
    return Place(side, file, more if more.exists() else None)
