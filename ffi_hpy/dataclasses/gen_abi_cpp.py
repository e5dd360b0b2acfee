"""C++ structs for registered types: `gen_abi_cpp()`."""

from __future__ import annotations

import fnmatch
from itertools import groupby

from .. import _core
from .._start.late import suggest_names
from .._types.info import TypeField, TypeInfo, info_of_key, load_library_of
from .._types.info import info_of_key as _lookup_or_register_type_info_from_type_key  # noqa: F401 - tvm_ffi's
from .._types.schema import TypeSchema  # noqa: F401
from ..core import _object_type_key_to_index  # noqa: F401
from ..registry import get_registered_type_keys
from ._cpp_type import CppName, CppType, Lowering, builtin_structs, identifier
from .common import type_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["gen_abi_cpp"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

_BEGIN = """\
#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#elif defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4749)
#endif
"""
_END = """\
#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#pragma warning(pop)
#endif
"""


def gen_abi_cpp(type_keys: str | Sequence[str]) -> str:
    """Write a C++17 header with a struct for each of some types, and for their parents. C++ code that includes it reads
    the types' objects in place, whatever language defined them.

    The structs look their types up and register nothing; static assertions compare the layouts.

    Args:
        type_keys: keys or patterns of keys ("my.ir.*"). Types that only occur in fields get an empty struct.

    Returns:
        The text of the header.

    Raises:
        ValueError: for a key that is not registered, for a pattern without a match, and for a type with an unknown
            layout.
    """
    return _Generator(_select([type_keys] if isinstance(type_keys, str) else type_keys)).build()


def _matching(selector: str) -> list[str]:
    """The keys of registered types that match a selector."""
    return sorted(key for key in map(str, get_registered_type_keys()) if fnmatch.fnmatchcase(key, selector))


def _select(selectors: Iterable[str]) -> list[TypeInfo]:
    """Return the types that selectors name, with their parents, parents first, without types in the headers."""
    structs = builtin_structs()
    found: dict[int, TypeInfo] = {}
    for selector in selectors:
        matches = _matching(selector)
        if not matches and load_library_of(selector):
            matches = _matching(selector)
        if not matches:
            raise ValueError(f"{selector!r} did not match any registered type")
        infos = [info for info in map(info_of_key, matches) if info.type_index >= _core.TYPE_INDEX_OBJECT]
        if not infos:
            raise ValueError(f"{selector!r} did not match any registered object type")
        for info in infos:
            if info.type_index < _core.TYPE_INDEX_DYNAMIC_BEGIN and info.type_index not in structs:
                raise ValueError(f"{info.type_key} has no struct in the headers")
            found.update((i.type_index, i) for i in type_chain(info) if i.type_index >= _core.TYPE_INDEX_DYNAMIC_BEGIN)
    return sorted(found.values(), key=lambda info: (len(info.type_ancestors), info.type_key))


class _Generator:
    """Writes the header for a list of types."""

    def __init__(self, infos: list[TypeInfo]) -> None:
        self._infos = infos
        self._lowering = Lowering()

    def _lower_field(self, field: TypeField, owner: TypeInfo) -> CppType:
        return self._lowering.lower_field(field, owner)

    def build(self) -> str:
        structs = [(CppName.of(info.type_key), self._struct(info)) for info in self._infos]
        defined = {info.type_index: info for info in self._infos}
        named = sorted({**self._lowering.used, **defined}.values(), key=lambda info: CppName.of(info.type_key))
        empty = [info for info in named if info.type_index not in defined]
        names = [CppName.of(info.type_key) for info in named]
        parts = [
            "#pragma once\n\n#include <tvm/ffi/tvm_ffi.h>\n\n",
            _in_namespaces((name, f"struct {name.name};\n") for name in names),
            *(f"template <>\ninline constexpr bool tvm::ffi::is_object_subclass_v<{name}> = true;\n" for name in names),
            "\n",
            _in_namespaces((CppName.of(info.type_key), _open_struct(info) + "};\n") for info in empty),
            f"static_assert(sizeof(::tvm::ffi::Object) == {_core.OBJECT_HEADER_BYTES});\n",
            f"static_assert(alignof(::tvm::ffi::Object) == {_core.OBJECT_ALIGNMENT});\n\n",
            _BEGIN,
            "\n",
            _in_namespaces(structs),
            _END,
        ]
        return "".join(parts)

    def _struct(self, info: TypeInfo) -> str:
        if not (info.total_size and _knows_size(info)):
            raise ValueError(f"{info.type_key} does not expose fixed total-size metadata")
        name = CppName.of(info.type_key).name
        fields = sorted(info.fields or (), key=lambda field: field.offset)
        lowered = [(field, identifier(field.name), self._lower_field(field, info)) for field in fields]
        alignments = [field.alignment for owner in type_chain(info) for field in owner.fields or ()]
        alignment = max([_core.OBJECT_ALIGNMENT, *alignments])
        lines = [_open_struct(info, f"alignas({alignment}) ", _base_of(info))]
        checks = [f"sizeof({name}) == {info.total_size}", f"alignof({name}) == {alignment}"]
        if lowered:
            lines.append("\n")
        for field, member, cpp in lowered:
            note = "" if member == field.name else f", reflected name={field.name!r}"
            where = f"offset={field.offset}, size={cpp.size}, align={cpp.alignment}{note}"
            lines.append(f"  {cpp.cpp_type} {member};  // {where}\n")
            checks.append(f"sizeof(decltype({name}::{member})) == {cpp.size}")
            checks.append(f"alignof(decltype({name}::{member})) == {cpp.alignment}")
            checks.append(f"offsetof({name}, {member}) == {field.offset}")
        return "".join([*lines, "};\n\n", *(f"static_assert({check});\n" for check in checks)])


def _knows_size(info: TypeInfo) -> bool:
    return info._has_type_metadata or bool(info._decorator_args)


def _base_of(info: TypeInfo) -> str:
    parent = info.parent_type_info
    if parent is None:
        raise ValueError(f"{info.type_key} has no parent")
    if parent.type_index >= _core.TYPE_INDEX_DYNAMIC_BEGIN:
        return str(CppName.of(parent.type_key))
    struct = builtin_structs().get(parent.type_index)
    if struct is None:
        raise ValueError(f"{parent.type_key}, the parent of {info.type_key}, has no struct in the headers")
    return struct


def _open_struct(info: TypeInfo, attributes: str = "", base: str = "::tvm::ffi::Object") -> str:
    name = CppName.of(info.type_key).name
    lookup = f"TVM_FFI_DECLARE_OBJECT_INFO_LOOKUP({_literal(info.type_key)}, {len(info.type_ancestors)})"
    return f"struct {attributes}{name} : public {base} {{\n  {lookup};\n"


def _literal(text: str) -> str:
    """Return a C++ string literal of UTF-8 bytes, which does not depend on the compiler's character set."""
    escapes = {'"': r"\"", "\\": r"\\"}
    chars = (escapes.get(chr(byte), chr(byte)) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(chars)}"'


def _in_namespaces(blocks: Iterable[tuple[CppName, str]]) -> str:
    """Return the blocks, separated by empty lines. Consecutive blocks of one namespace share a namespace block."""
    parts = []
    for namespaces, group in groupby(blocks, key=lambda block: block[0].namespaces):
        body = "\n".join(text for _, text in group)
        if namespaces:
            opening = "".join(f"namespace {name} {{\n" for name in namespaces)
            closing = "".join(f"}}  // namespace {name}\n" for name in reversed(namespaces))
            body = f"{opening}\n{body}\n{closing}"
        parts.append(body + "\n")
    return "".join(parts)
