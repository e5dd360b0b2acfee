"""Tests whether a type's memory can be reproduced from its registered fields: every byte must be explained.

A type is complete if its parent is complete, its fields follow the parent's without overlap, and the free bytes between
and after them are exactly the alignment padding. Any other type has unregistered members, and is opaque.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path
    from typing import Any, Callable, Literal

    from .utils import NamedTypeSchema, ObjectInfo

    OpaqueReason = Literal[
        "layout-unknown",
        "parent-opaque",
        "field-overlap",
        "uncovered-bytes",
        "unrenderable-field",
        "by-directive",
        "no-mirror",
    ]
    Mismatch = tuple[OpaqueReason, str]

__all__ = [
    "OBJECT_HEADER_ALIGNMENT",
    "ByteRange",
    "FieldBytes",
    "Verdict",
    "classify",
    "coverage_report",
    "write_coverage_report",
]

OBJECT_HEADER_ALIGNMENT: int = _core.OBJECT_ALIGNMENT
"""The alignment of TVMFFIObject, in bytes."""


@dataclass(frozen=True)
class ByteRange:
    """Bytes of an object, from `start` up to `end`."""

    start: int
    end: int

    def to_json_obj(self) -> list[int]:
        """[start, end]"""
        return [self.start, self.end]

    def __str__(self) -> str:
        return f"[{self.start}, {self.end})"


@dataclass(frozen=True)
class FieldBytes:
    """The position of a field; all in bytes."""

    name: str
    offset: int
    size: int
    alignment: int

    @property
    def end(self) -> int:
        """Offset of the first byte after the field."""
        return self.offset + self.size

    def to_json_obj(self) -> dict[str, Any]:
        """Name, offset, size and alignment."""
        return {"name": self.name, "offset": self.offset, "size": self.size, "alignment": self.alignment}


@dataclass
class Verdict:
    """The result of classify() for a type, with the evidence, which may be incomplete for an opaque type.

    `own_bytes` are the bytes after the parent's; `uncovered` the unexplained bytes, `padding` the bytes for alignment.
    `detail` is a sentence.
    """

    type_key: str
    verdict: Literal["complete", "opaque"]
    reason: OpaqueReason | None
    detail: str
    parent_type_key: str | None
    ancestors: list[str]
    total_size: int | None
    is_final: bool | None
    alignment: int | None = None
    own_bytes: ByteRange | None = None
    fields: list[FieldBytes] = field(default_factory=list)
    uncovered: list[ByteRange] = field(default_factory=list)
    padding: list[ByteRange] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether every byte is explained."""
        return self.verdict == "complete"

    def to_json_obj(self) -> dict[str, Any]:
        """Return the verdict in the form of coverage_report()."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "detail": self.detail,
            "parent": self.parent_type_key,
            "ancestors": list(self.ancestors),
            "total_size": self.total_size,
            "is_final": self.is_final,
            "own_bytes": None if self.own_bytes is None else self.own_bytes.to_json_obj(),
            "fields": [f.to_json_obj() for f in self.fields],
            "uncovered": [r.to_json_obj() for r in self.uncovered],
            "padding": [r.to_json_obj() for r in self.padding],
        }


def classify(
    infos: Mapping[str, ObjectInfo],
    *,
    forced_opaque: AbstractSet[str] = frozenset(),
    unmirrored: AbstractSet[str] = frozenset(),
    field_renderable: Callable[[NamedTypeSchema], bool] | None = None,
) -> dict[str, Verdict]:
    """Return a verdict for each type, ancestors first. KeyError if an ancestor is missing.

    Types in `forced_opaque` are opaque even if their bytes are explained; types in `unmirrored` are always opaque. A
    type is opaque if `field_renderable` returns false for one of its fields.
    """
    verdicts: dict[str, Verdict] = {}
    for key, info in infos.items():
        lineage = [infos[type_key] for type_key in (key, *reversed(info.ancestors))]
        for one in reversed(lineage):
            type_key = str(one.type_key)
            if type_key not in verdicts:
                parent = None if one.parent_type_key is None else verdicts[one.parent_type_key]
                verdicts[type_key] = _judge(one, parent, forced_opaque, unmirrored, field_renderable)
    return verdicts


def coverage_report(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Return the verdicts in a form for JSON, sorted by type key."""
    return {key: verdicts[key].to_json_obj() for key in sorted(verdicts)}


def write_coverage_report(path: Path, verdicts: Mapping[str, Verdict]) -> None:
    """Write coverage_report() to a file."""
    path.write_text(json.dumps(coverage_report(verdicts), indent=2) + "\n", encoding="utf-8")


def _judge(
    info: ObjectInfo,
    parent: Verdict | None,
    forced_opaque: AbstractSet[str],
    unmirrored: AbstractSet[str],
    field_renderable: Callable[[NamedTypeSchema], bool] | None,
) -> Verdict:
    key = str(info.type_key)
    verdict = Verdict(
        key, "complete", None, "", info.parent_type_key, list(info.ancestors), info.total_size, info.is_final
    )
    mismatch: Mismatch | None
    if key in unmirrored:
        mismatch = "no-mirror", "the target language has no type of its layout"
    else:
        mismatch = _weigh(verdict, info, parent)
        if mismatch is None and key in forced_opaque:
            mismatch = "by-directive", "vetoed by directive although the layout is reproducible"
        if mismatch is None and field_renderable is not None:
            refused = next((f for f in info.fields if not field_renderable(f)), None)
            if refused is not None:
                mismatch = "unrenderable-field", f"field {refused.name!r} ({refused.repr()}) has no native mirror"
    if mismatch is not None:
        verdict.verdict = "opaque"
        verdict.reason, verdict.detail = mismatch
    return verdict


def _weigh(verdict: Verdict, info: ObjectInfo, parent: Verdict | None) -> Mismatch | None:
    """Store the evidence in `verdict`, with its detail if every byte is explained; return the mismatch otherwise."""
    mismatch = _note_fields(verdict, info)
    if verdict.total_size is None:
        return "layout-unknown", "no metadata of its own: total_size is unknown"
    if parent is not None and not parent.is_complete:
        return "parent-opaque", f"parent {parent.type_key!r} is opaque ({parent.reason})"
    if mismatch is not None:
        return mismatch
    if parent is None:
        start, alignment = verdict.total_size, OBJECT_HEADER_ALIGNMENT
    else:
        assert parent.total_size is not None  # because it is complete
        start, alignment = parent.total_size, parent.alignment or OBJECT_HEADER_ALIGNMENT
    verdict.alignment = max([alignment, *(f.alignment for f in verdict.fields)])
    verdict.own_bytes = ByteRange(start, max(start, verdict.total_size))
    if parent is None:
        verdict.detail = f"the object header of {start} bytes"
        return None
    return _account(verdict, start)


def _note_fields(verdict: Verdict, info: ObjectInfo) -> Mismatch | None:
    """Put the fields into `verdict`, in the order of their offsets."""
    for f in info.fields:
        if f.offset is None or f.size is None or not f.alignment:
            return "layout-unknown", f"field {f.name!r} has no offset, size or alignment"
        verdict.fields.append(FieldBytes(f.name, f.offset, f.size, f.alignment))
    verdict.fields.sort(key=lambda f: f.offset)
    return None


def _account(verdict: Verdict, start: int) -> Mismatch | None:
    """Explain each byte from `start` to the end of the type."""
    assert verdict.total_size is not None and verdict.alignment is not None  # noqa: PT018
    cursor = start
    for f in verdict.fields:
        if f.offset < cursor:
            place = ByteRange(f.offset, f.end)
            return (
                "field-overlap",
                f"field {f.name!r} at {place} starts before byte {cursor}, where the ones before it end",
            )
        _note_gap(verdict, cursor, f.offset, f.alignment)
        cursor = f.end
    if cursor > verdict.total_size:
        return "field-overlap", f"its fields end at byte {cursor}, past total_size {verdict.total_size}"
    _note_gap(verdict, cursor, verdict.total_size, verdict.alignment)
    if verdict.uncovered:
        holes = f"bytes {_join(verdict.uncovered)} of {verdict.own_bytes}"
        return "uncovered-bytes", f"{holes} are not accounted for by reflected fields"
    verdict.detail = f"reflected fields fill {verdict.own_bytes} exactly"
    if verdict.padding:
        verdict.detail += f" (alignment padding {_join(verdict.padding)})"
    return None


def _note_gap(verdict: Verdict, start: int, end: int, alignment: int) -> None:
    """Store the free bytes before a field or the end of an object, by its alignment."""
    if start < end:
        forced = -(-start // alignment) * alignment
        (verdict.padding if forced == end else verdict.uncovered).append(ByteRange(start, end))


def _join(ranges: list[ByteRange]) -> str:
    return ", ".join(map(str, ranges))
