"""The facts about ELF libraries: the exported names, the needed libraries, and the required versions.

pyelftools, which is plain Python, reads the files, so the tests use this module on every interpreter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from elftools.elf.elffile import ELFFile

_BINDINGS = {"STB_GLOBAL": "global", "STB_WEAK": "weak", "STB_LOOS": "unique"}


@dataclass(frozen=True)
class Library:
    """A shared library."""

    soname: str
    exports: dict[str, str]  # global, weak or unique, by name
    imports: set[str]  # undefined names
    weak_imports: set[str]  # the undefined names that may stay undefined
    needed: tuple[str, ...]
    versions: tuple[str, ...]  # required versions of the needed libraries
    page: int  # the largest page size that works


def read_library(path: Path) -> Library:
    """Return the facts about a file. Raises ValueError for other files."""
    # Here, because commands of ci begin with the standard library alone.
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        try:
            return _describe(ELFFile(file))
        except ELFError as error:
            raise ValueError(f"{path} is not an ELF file: {error}") from None


def _describe(elf: ELFFile) -> Library:
    names, dynamic, versions = (elf.get_section_by_name(f".{name}") for name in ("dynsym", "dynamic", "gnu.version_r"))
    symbols = [(each.name, each["st_shndx"], each["st_info"]["bind"]) for each in names.iter_symbols() if each.name]
    tags = list(dynamic.iter_tags())
    return Library(
        soname=next((tag.soname for tag in tags if tag.entry.d_tag == "DT_SONAME"), ""),
        exports={name: _BINDINGS[bind] for name, at, bind in symbols if at != "SHN_UNDEF" and bind in _BINDINGS},
        imports={name for name, at, _ in symbols if at == "SHN_UNDEF"},
        weak_imports={name for name, at, bind in symbols if at == "SHN_UNDEF" and bind == "STB_WEAK"},
        needed=tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        versions=tuple(each.name for _, needs in versions.iter_versions() for each in needs) if versions else (),
        page=min((each["p_align"] for each in elf.iter_segments("PT_LOAD")), default=0),
    )
