"""The functions and types that the loaded libraries have registered, in the form from which stubs are generated."""

from __future__ import annotations

from .._types.function_metadata import FunctionMetadata, metadata_of
from .._types.info import index_of_key, info_of_key
from ..registry import get_global_func, get_global_func_metadata, get_registered_type_keys, list_global_func_names
from .utils import FuncInfo, ObjectInfo, function_schema

__all__ = [
    "collect_global_funcs",
    "collect_type_keys",
    "is_registered",
    "object_info_from_type_key",
    "toposort_objects",
]


def collect_global_funcs() -> dict[str, list[FuncInfo]]:
    """Return the global functions, sorted, by the part of their names before the last dot; names without a dot are left
    out. MetadataError, which names the function, for metadata that cannot be read."""
    found: dict[str, list[FuncInfo]] = {}
    for name in sorted(map(str, list_global_func_names())):
        prefix, dot, _ = name.rpartition(".")
        if dot:
            schema = function_schema(get_global_func_metadata(name), f"function `{name}`")
            function = get_global_func(name, allow_missing=True)
            entry = FunctionMetadata() if function is None else metadata_of(function)
            found.setdefault(prefix, []).append(FuncInfo.from_metadata(name, schema, entry))
    return found


def collect_type_keys() -> dict[str, list[str]]:
    """Return the keys of the registered types, sorted, by the part before the last dot; keys without a dot are left
    out."""
    found: dict[str, list[str]] = {}
    for key in sorted(map(str, get_registered_type_keys())):
        prefix, dot, _ = key.rpartition(".")
        if dot:
            found.setdefault(prefix, []).append(key)
    return found


def is_registered(type_key: str) -> bool:
    """Whether a library has registered the type."""
    return index_of_key(type_key) >= 0


def object_info_from_type_key(type_key: str) -> ObjectInfo:
    """Return the description of a registered type. ValueError if the key is not registered; MetadataError, which names
    the field or method, for metadata that cannot be read."""
    return ObjectInfo.from_type_info(info_of_key(type_key))


def toposort_objects(type_keys: list[str]) -> list[ObjectInfo]:
    """Return the types, each after its ancestors among them, otherwise sorted by key."""
    infos = {key: object_info_from_type_key(key) for key in sorted(type_keys)}
    ordered: dict[str, ObjectInfo] = {}
    for key, info in infos.items():
        for ancestor in (*info.ancestors, key):
            if ancestor in infos:
                ordered.setdefault(ancestor, infos[ancestor])
    return list(ordered.values())
