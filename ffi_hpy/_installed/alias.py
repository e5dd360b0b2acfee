"""The distribution apache-tvm-ffi in a process that has the drop-in: ffi_hpy's distribution under the other name. A
copy of ffi_hpy without an installed distribution, or inside another package, only has metadata and commands."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

from .._system import SYSTEMS, is_of_another
from .identity import TVM_FFI, installed_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from email.message import Message
    from os import PathLike

__all__ = ["find_alias"]

_PACKAGE = (__package__ or "").rpartition(".")[0]
_OWN = Path(__file__).absolute().parents[1]
_METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"


class _Alias(importlib.metadata.Distribution):
    """The installed distribution of ffi_hpy, if there is one, under the other name. If the environment has a stand-in,
    its version is used."""

    name = TVM_FFI.name  # Python 3.9 lacks both attributes, and setuptools reads both
    _normalized_name = name.replace("-", "_")

    def __init__(self, ours: importlib.metadata.Distribution | None) -> None:
        self._ours = ours

    def read_text(self, filename: str) -> str | None:
        if filename == "entry_points.txt":
            return TVM_FFI.describe_entry_points()
        if self._ours is None:
            version = installed_version(TVM_FFI) or TVM_FFI.version
            return _METADATA.format(TVM_FFI.name, version) if filename == "METADATA" else None
        text = self._ours.read_text(filename)
        if filename == "RECORD" and text and f"/{SYSTEMS}/" in text:
            text = "".join(line for line in text.splitlines(keepends=True) if not self._is_of_another(line))
        if filename in ("METADATA", "PKG-INFO") and text:
            text = re.sub(r"(?m)^Name: .*$", f"Name: {TVM_FFI.name}", text, count=1)
            version = installed_version(TVM_FFI) or TVM_FFI.version
            text = re.sub(r"(?m)^Version: .*$", f"Version: {version}", text, count=1)
        return text

    def _is_of_another(self, line: str) -> bool:
        """Whether a line of the record names a file for another system, which programs must not use."""
        package = str(self.locate_file("ffi_hpy"))
        return is_of_another(str(self.locate_file(line.partition(",")[0])), package)

    def locate_file(self, path: str | PathLike[str]) -> PathLike[str]:  # type: ignore[override,unused-ignore]
        if self._ours is None:
            return _OWN.parent / path
        return self._ours.locate_file(path)  # type: ignore[return-value,unused-ignore]

    if TYPE_CHECKING:

        @property
        def metadata(self) -> Message: ...  # type: ignore[override,unused-ignore]


def find_alias(wanted: str | None) -> Iterable[importlib.metadata.Distribution]:
    """Return the distribution if it has the wanted name; None means any name."""
    if wanted is not None and re.sub(r"[-_.]+", "-", wanted).lower() != TVM_FFI.name:
        return []
    try:
        # An installed distribution of this name is a different copy if this package is part of another one
        ours = importlib.metadata.distribution("ffi-hpy") if _PACKAGE == "ffi_hpy" else None
    except importlib.metadata.PackageNotFoundError:
        ours = None
    return [_Alias(ours)]
