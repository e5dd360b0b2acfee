"""The public members of the C and C++ headers, as Doxygen's XML lists them: for the pages of the reference and for the
check of comments."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_INTERNAL = re.compile(
    r"\bdetail\b|Unsafe\b|\b\w*Traits\w*|\bdtype_trait<|^std::|(?:_v|_t) ?<|^use_default_type_traits_v|^type_subsumes_v"
)
"""Internal names, and specializations: they repeat an interface that the primary template or the standard describes."""
_DECLARATION = re.compile(r"TVM_FFI_(?:DECLARE|DEFINE)_\w+$")
_OF_TYPE = re.compile(r"_type_\w+$|__\w+$")  # constants of classes, which docs/objects.md describes; padding
_NOT_USERS = re.compile(r"TVM_FFI_\w+_$|TVM_FFI_\w+_H$|_TVM_FFI_\w+$|__\w+|TVM_FFI_EXTRA_\w*_$")


@dataclass
class Member:
    """A macro, function, variable, type or class."""

    kind: str
    name: str  # without its scope
    file: str
    line: int
    signature: str
    text: list[ET.Element]  # of its comment
    is_obvious: bool = False  # C++ itself defines the purpose, so the member needs no comment
    members: list[Member] = field(default_factory=list)

    @property
    def has_comment(self) -> bool:
        return any("".join(part.itertext()).strip() for part in self.text)


class Headers:
    """The members of all headers, from a folder of XML."""

    def __init__(self, folder: Path) -> None:
        self._compounds: dict[str, ET.Element] = {}
        for path in sorted(folder.glob("*.xml")):
            for compound in ET.parse(path).getroot().iter("compounddef"):
                self._compounds[compound.get("id", "")] = compound
        self.texts: dict[str, list[ET.Element]] = {}  # of each header
        self._members: dict[tuple[str, int, str, str], Member] = {}
        for compound in self._compounds.values():
            self._read(compound)
        self.members = sorted(self._members.values(), key=lambda member: (member.file, member.line))

    def _read(self, compound: ET.Element) -> None:
        kind, name = compound.get("kind"), compound.findtext("compoundname", "")
        if "/internal/" in _place_of(compound):
            return
        if kind == "file":
            self.texts[_place(compound)[0]] = _text_of(compound)
        elif kind in ("class", "struct", "union"):
            self._add_class(compound, name)
            return
        if kind == "file" or (kind == "namespace" and not _INTERNAL.search(name)):
            for found in compound.iter("memberdef"):
                member = _member(found, "")
                if member and member.kind != "friend":
                    self._add(member)

    def _add_class(self, compound: ET.Element, name: str) -> None:
        short = _short(name)
        if compound.get("prot") == "private" or _INTERNAL.search(short) or "[" in name or "@" in name:
            return
        member = Member(compound.get("kind", ""), short, *_place(compound), _class_signature(compound, short), [])
        member.text = _text_of(compound)
        known: dict[tuple[str, int, str], Member] = {}
        for found in self._members_of(compound, set()):
            known.setdefault((found.file, found.line, found.signature), found)
        member.members = list(known.values())
        if member.members or member.has_comment:
            self._add(member)

    def _members_of(self, compound: ET.Element, seen: set[str]) -> Iterator[Member]:
        """Yield the public members of a class, of its anonymous unions and of its internal bases."""
        seen.add(compound.get("id", ""))
        name = compound.findtext("compoundname", "")
        for found in compound.findall("sectiondef/memberdef"):
            member = _member(found, name)
            if member:
                yield member
        inner = [part for part in compound.findall("innerclass") if re.search(r"[@\[]", part.text or "")]
        bases = [
            base
            for base in compound.findall("basecompoundref")
            if base.get("prot") == "public" and "detail" in (base.get("refid") or "")
        ]
        for part in (*inner, *bases):
            there = self._compounds.get(part.get("refid", ""))
            if there is not None and there.get("id") not in seen:
                yield from self._members_of(there, seen)

    def _add(self, member: Member) -> None:
        """Add a member unless it is known: Doxygen lists some in several namespaces."""
        self._members.setdefault((member.file, member.line, member.kind, member.name.rpartition("::")[2]), member)

    def without_comment(self) -> list[str]:
        """Return the public members that need a comment and have none: FILE:LINE and the name."""
        lost = []
        for outer in self.members:
            for member in (outer, *outer.members):
                if not member.has_comment and not member.is_obvious:
                    scope = "" if member is outer else f"{outer.name}::"
                    lost.append(f"{member.file}:{member.line}: {scope}{member.name} has no comment")
        return sorted(set(lost))


def _short(name: str) -> str:
    return name.replace("tvm::ffi::", "").replace("tvm::", "").replace("< ", "<").replace(" >", ">").lstrip(":")


def _place(element: ET.Element) -> tuple[str, int]:
    location = element.find("location")
    assert location is not None
    return location.get("file", ""), int(location.get("line", "0"))


def _place_of(element: ET.Element) -> str:
    location = element.find("location")
    return location.get("file", "") if location is not None else ""


def _text_of(element: ET.Element) -> list[ET.Element]:
    found = (element.find(tag) for tag in ("briefdescription", "detaileddescription"))
    return [part for part in found if part is not None]


def _plain(element: ET.Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _template(element: ET.Element) -> str:
    """Return `template <...>` with a space, or nothing; conditions on the arguments are left out."""
    templates = element.find("templateparamlist")
    if templates is None:
        return ""
    names = []
    for param in templates.findall("param"):
        text = _plain(param.find("type"))
        default = _plain(param.find("defval"))
        declared = _plain(param.find("declname"))
        if not (default and not declared and text in ("typename", "class")) and "enable_if" not in text:
            names.append(f"{text} {declared}".rstrip())
    return f"template <{', '.join(names)}> " if names else ""


def _class_signature(compound: ET.Element, short: str) -> str:
    bases = [
        _short(_plain(base))
        for base in compound.findall("basecompoundref")
        if base.get("prot") == "public" and "detail" not in _plain(base)
    ]
    ending = f" : public {', '.join(bases)}" if bases else ""
    own = short if "<" in short else short.rpartition("::")[2]
    return f"{_template(compound)}{compound.get('kind')} {own}{ending}"


def _is_defined(element: ET.Element) -> bool:
    """Return whether the header has the body of a function. A friend without one does not belong to a class's API."""
    location = element.find("location")
    return location is not None and location.get("bodyfile") is not None


def _member(element: ET.Element, scope: str) -> Member | None:
    """Return a public member, or None for one that is internal."""
    kind, name = element.get("kind", ""), element.findtext("name", "")
    arguments = element.findtext("argsstring", "") or ""
    qualified = _short(element.findtext("qualifiedname", "") or name)
    internal = (
        (element.get("prot") != "public" and kind != "friend")
        or (_DECLARATION.match(name) is not None and kind != "define")
        or _OF_TYPE.match(name)
        or (kind == "define" and (_NOT_USERS.match(name) or name.endswith("_H_")))
        or (kind == "friend" and ("(" not in arguments or not _is_defined(element)))
        or (name.startswith(("~", "@", "operator=", "_GetOr", "<deduction")) and name != "operator==")
        or (name.startswith("TVM_FFI_") and kind in ("function", "variable"))
        or (not scope and _INTERNAL.search(qualified))
        or "->" in arguments.partition(")")[2]
    )
    if internal:
        return None
    member = Member(kind, name, *_place(element), _signature(element, kind, name, arguments), _text_of(element))
    repeats = kind == "typedef" and member.signature == f"typedef enum {name} {name}"
    member.is_obvious = repeats or _is_obvious(scope, name, arguments)
    if kind == "enum":
        member.name = name.lstrip("@") or "enum"
        member.members = [
            Member(
                "enumvalue", _plain(value.find("name")), member.file, member.line, _enum_value(value), _text_of(value)
            )
            for value in element.findall("enumvalue")
        ]
    return member


def _enum_value(value: ET.Element) -> str:
    return f"{_plain(value.find('name'))} {_plain(value.find('initializer'))}".rstrip()


_STANDARD = re.compile(
    r"operator(?![(\[]| \w)|(?:swap|begin|end|rbegin|rend)$"
    r"|(?:value|key|mapped|difference)_type$|pointer$|reference$|iterator$|reverse_iterator$|iterator_category$"
)
"""Names that mean the same in every C++ class: operators, except calls, indexing and conversions; of iterators."""


def _is_obvious(scope: str, name: str, arguments: str) -> bool:
    """Return whether a member needs no comment: C++ fixes its meaning, or it is a constructor of an internal base."""
    own = re.sub(r"<.*", "", scope).strip().rpartition("::")[2]
    copies = re.match(rf"\((?:const )?{re.escape(own)}(?: ?<[^()]*>)? ?&&? ?\w*\)", arguments)
    is_own = name == own and ("detail" in scope or copies is not None)
    is_key = own == "StaticTypeKey"  # TVMFFITypeIndex describes the types of these names
    return is_own or is_key or arguments.endswith(("=delete", "=default")) or _STANDARD.match(name) is not None


def _signature(element: ET.Element, kind: str, name: str, arguments: str) -> str:
    if kind == "define":
        params = [_plain(param.find("defname")) for param in element.findall("param")]
        return f"#define {name}" + (f"({', '.join(params)})" if params else "")
    if kind == "enum":
        return f"enum {name.lstrip('@')}".rstrip()
    if kind == "typedef":
        return re.sub(
            r"^using .*?([\w]+) =",
            r"using \1 =",
            _short(_plain(element.find("definition"))).replace(arguments * 2, arguments),
        )
    words = [word for word in ("static", "constexpr", "explicit", "virtual") if element.get(word) in ("yes", "virtual")]
    if element.get("virt") == "virtual":
        words.append("virtual")
    kept = re.sub(r"\b(?:inline|static|friend|constexpr|extern|TVM_FFI_\w+)\b ?", "", _plain(element.find("type")))
    value = _plain(element.find("initializer")) if kind == "variable" else ""
    ending = f" {value}" if value and len(value) < 60 else ""
    words += [word for word in (_short(kept), name + arguments.replace("tvm::ffi::", "") + ending) if word]
    return _template(element) + re.sub(r"([*&]) (?=[A-Za-z_])", r"\1", " ".join(words))
