"""The pages of the C and C++ reference: one for each header, from Doxygen's XML.

No tool fits. mkdoxy 1.2.8 fails on a class whose base Doxygen leaves out, and makes hundreds of pages; breathe needs
Sphinx; Doxygen's own HTML is a second site with a second search. So Doxygen reads the headers, and this module writes
Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ci.jobs.header_members import Headers, Member

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from collections.abc import Iterator

PLACE = "tvm/ffi/"
FOLDER = "reference/headers"
GROUPS = {
    "Core": "",
    "Containers": "container/",
    "Reflection": "reflection/",
    "Extra": "extra/",
    "CUDA": "extra/cuda/",
}
"""The parts of the navigation, and the folder of the headers of each."""

_KINDS = {"define": "Macros", "enum": "Constants", "typedef": "Types", "variable": "Variables", "function": "Functions"}
_CLASSES = ("class", "struct", "union")


def header_pages(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the path of each page below the site's pages, and its text."""
    for header, intro in headers.texts.items():
        members = [member for member in headers.members if member.file == header]
        if members:
            yield _page_of(header), "\n".join(_page(header, intro, members))


def navigation(headers: Headers) -> list[str]:
    """Return the lines of mkdocs.yml that list the pages."""
    listed = {member.file for member in headers.members}
    lines = []
    for group, folder in GROUPS.items():
        names = sorted(name for name in listed if name.rpartition("/")[0] == (PLACE + folder).rstrip("/"))
        lines += [f"- {group}:", *(f"    - {_page_of(name)}" for name in names)]
    return lines


def _page_of(header: str) -> str:
    return f"{FOLDER}/{header.removeprefix(PLACE).removesuffix('.h')}.md"


def _page(header: str, intro: list[ET.Element], members: list[Member]) -> Iterator[str]:
    yield f"# {header.removeprefix(PLACE)}\n"
    yield _code([f"#include <{header}>"], "c")
    yield (
        re.sub(r"^\S+\.h - (.)", lambda found: found[1].upper(), "\n".join(_text(part) for part in intro).strip())
        + "\n"
    )
    for member in members:
        if member.kind in _CLASSES:
            yield f"## {_escaped(member.name)}\n"
            yield from _entry(member)
            yield from _entries(member.members)
    for kind, title in _KINDS.items():
        found = [member for member in members if member.kind == kind]
        if found:
            yield f"## {title}\n"
            yield from _entries(found)


def _entries(members: list[Member]) -> Iterator[str]:
    """Yield the entries of members; one code block shows all neighbours without a text."""
    plain: list[str] = []
    for member in members:
        if member.has_comment or member.members:
            if plain:
                yield _code(plain)
            plain = []
            yield from _entry(member)
        else:
            plain.append(member.signature)
    if plain:
        yield _code(plain)


def _entry(member: Member) -> Iterator[str]:
    yield _code([member.signature])
    yield _text_of(member.text) + "\n"
    if member.kind == "enum":
        for value in member.members:
            says = " ".join(_text_of(value.text).split())
            yield f"- `{value.signature}`" + (f": {says}" if says else "")
        yield ""


def _code(lines: list[str], language: str = "cpp") -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


def _text_of(parts: list[ET.Element]) -> str:
    """Return a brief and a detailed description as Markdown; the first sentences are one paragraph."""
    brief, *rest = [re.sub(r"[ \n]*\n[ \n]*\n[ \n]*", "\n\n", _text(part)).strip() for part in parts]
    joint = " " if rest and not rest[0].startswith(("```", "- ")) else "\n\n"
    return joint.join(part for part in (brief, *rest) if part)


def _text(element: ET.Element) -> str:
    """Return a comment of Doxygen's XML as Markdown."""
    parts = [_escaped(element.text or "")]
    for child in element:
        if child.tag in ("computeroutput", "tt"):
            parts.append(f"`{''.join(child.itertext())}`")
        elif child.tag in ("verbatim", "programlisting", "preformatted"):
            parts.append("\n\n" + _code(_lines_of(child)))
        elif child.tag == "listitem":
            parts.append(f"- {' '.join(_text(child).split())}\n")
        elif child.tag in ("itemizedlist", "orderedlist"):
            parts.append(f"\n\n{_text(child).strip()}\n")
        elif child.tag == "para":
            parts.append(f"\n{_text(child).strip()}\n")
        else:
            parts.append(_text(child))
        parts.append(_escaped(child.tail or ""))
    return "".join(parts)


def _lines_of(element: ET.Element) -> list[str]:
    """Return the lines of a block of code."""
    found = element.findall("codeline")
    if not found:
        lines = "".join(element.itertext()).strip("\n").rstrip().split("\n")
        return [re.sub(r"^ *\*(?:   )?", "", line) for line in lines]
    lines = []
    for line in found:
        for space in line.iter("sp"):
            space.text = " "
        lines.append("".join(line.itertext()))
    return lines


def _escaped(text: str) -> str:
    """Return text in which nothing is Markdown or HTML."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*_\[\]#])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
