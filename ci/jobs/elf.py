"""Reads ELF libraries: the exported names, the needed libraries, and the required versions."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PT_LOAD = 1
_SHT_DYNSYM, _SHT_DYNAMIC, _SHT_VERNEED = 11, 6, 0x6FFFFFFE
_DT_NEEDED, _DT_SONAME = 1, 14
_WEAK = 2
_BINDINGS = {1: "global", _WEAK: "weak", 10: "unique"}


@dataclass(frozen=True)
class Library:
    """A 64-bit little-endian shared library."""

    soname: str
    exports: dict[str, str]  # global, weak or unique, by name
    imports: set[str]  # undefined names
    weak_imports: set[str]  # the undefined names that may stay undefined
    needed: tuple[str, ...]
    versions: tuple[str, ...]  # required versions of the needed libraries
    page: int  # the largest page size that works


def read_library(path: Path) -> Library:
    """Return the facts about a file. Raises ValueError for other files."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not an ELF file of 64 bits, little-endian")
    start, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    # per section: type, offset, size, index of its string section, number of items (if recorded)
    sections = [
        (fields[1], fields[4], fields[5], fields[6], fields[7])
        for fields in (struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count))
    ]

    def text(strings: int, offset: int) -> str:
        begin = sections[strings][1] + offset
        return data[begin : data.index(b"\0", begin)].decode()

    exports: dict[str, str] = {}
    imports: set[str] = set()
    weak_imports: set[str] = set()
    tags: list[tuple[int, str]] = []
    versions: list[str] = []
    for kind, offset, length, link, n_items in sections:
        if kind == _SHT_DYNSYM:
            for at in range(offset + 24, offset + length, 24):  # the first entry is empty
                name, info, _, section = struct.unpack_from("<IBBH", data, at)
                if not section:
                    imports.add(text(link, name))
                    if info >> 4 == _WEAK:
                        weak_imports.add(text(link, name))
                elif info >> 4 in _BINDINGS:
                    exports[text(link, name)] = _BINDINGS[info >> 4]
        elif kind == _SHT_DYNAMIC:
            items = struct.iter_unpack("<QQ", data[offset : offset + length])
            tags = [(tag, text(link, value)) for tag, value in items if tag in (_DT_NEEDED, _DT_SONAME)]
        elif kind == _SHT_VERNEED:
            versions = [text(link, name) for name in _needed_versions(data, offset, n_items)]
    soname = next((value for tag, value in tags if tag == _DT_SONAME), "")
    needed = tuple(value for tag, value in tags if tag == _DT_NEEDED)
    return Library(soname, exports, imports, weak_imports, needed, tuple(versions), _page(data))


def _page(data: bytes) -> int:
    """Return the smallest alignment of the segments that are mapped."""
    start, size, count = (*struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54))
    segments = (struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count))
    return min((fields[7] for fields in segments if fields[0] == _PT_LOAD), default=0)


def _needed_versions(data: bytes, at: int, n_libraries: int) -> list[int]:
    """Return the offsets of the versions' names in the section's strings."""
    names = []
    for _ in range(n_libraries):
        _, n_versions, _, first, following = struct.unpack_from("<HHIII", data, at)
        version = at + first
        for _ in range(n_versions):
            _, _, _, name, next_version = struct.unpack_from("<IHHII", data, version)
            names.append(name)
            version += next_version
        at += following
    return names
