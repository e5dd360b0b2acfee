"""Makes a wheel of this hpy, with headers.

    python -m ffi_hpy.dropin -m hpy.devel.wheel FOLDER

prints the wheel's path. Once installed, it is the environment's hpy, next to an ffi_hpy. pip and uv build projects in
environments that contain only the requirements of the project. If a project requires hpy, `pip install --find-links
FOLDER PROJECT` uses this wheel, because its version, 0.9.0+ffi.hpy, is preferred to 0.9.0.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

from . import HPyDevel
from .version import __version__

__all__ = ["make_wheel"]

_LOCAL_VERSION = f"{__version__}+ffi.hpy"
_NAME = f"hpy-{_LOCAL_VERSION}"
_PACKAGE = Path(__file__).resolve().parents[1]


def make_wheel(folder: Path) -> Path:
    """Write the wheel into a folder, which is created if needed, and return its path."""
    files = {f"{_NAME}.dist-info/{name}": text.encode() for name, text in _read_metadata().items()}
    for path in [_PACKAGE.with_name("pkg_resources.py"), *sorted(_PACKAGE.rglob("*.py"))]:
        if path.is_file():
            files[path.relative_to(_PACKAGE.parent).as_posix()] = path.read_bytes()
    base = HPyDevel().base_dir
    for part in ("include", "src", "LICENSE"):
        for path in sorted([base / part, *(base / part).rglob("*")]):
            if path.is_file():
                files[f"hpy/devel/{path.relative_to(base).as_posix()}"] = path.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{_NAME}-py3-none-any.whl"
    record = f"{_NAME}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def _read_metadata() -> dict[str, str]:
    """Return the files of the .dist-info folder, without RECORD."""
    metadata = f"Metadata-Version: 2.1\nName: hpy\nVersion: {_LOCAL_VERSION}\nRequires-Dist: setuptools>=64\n"
    entry_points = "[distutils.setup_keywords]\nhpy_ext_modules = hpy.devel:handle_hpy_ext_modules\n"
    wheel = "Wheel-Version: 1.0\nGenerator: ffi_hpy\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return {"METADATA": metadata, "entry_points.txt": entry_points, "WHEEL": wheel}


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m hpy.devel.wheel FOLDER")
    print(make_wheel(Path(sys.argv[1])))
