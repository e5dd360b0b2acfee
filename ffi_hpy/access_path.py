"""Paths into nested values: the fields, items and keys from a root to a place."""

from __future__ import annotations

from enum import IntEnum

from . import _ffi_api
from ._values.object import Object
from .registry import register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["AccessKind", "AccessPath", "AccessStep"]

# No C header names these numbers: the core defines them in src/core/fields/access_path.h.


class AccessKind(IntEnum):
    """The kind of a step. The MISSING kinds mark a place that exists only on the other side of a comparison."""

    ATTR = 0
    ARRAY_ITEM = 1
    MAP_ITEM = 2
    ATTR_MISSING = 3
    ARRAY_ITEM_MISSING = 4
    MAP_ITEM_MISSING = 5


@register_object("ffi.reflection.AccessStep")
class AccessStep(Object):
    """One step of a path. Immutable."""

    kind: AccessKind
    """The kind of the step, a number of AccessKind."""
    key: Any
    """The field's name, the index, or the map's key."""


@register_object("ffi.reflection.AccessPath")
class AccessPath(Object):
    """A path of steps that begins at AccessPath.root(). Immutable: each method that adds a step returns a new path,
    which shares the earlier steps. Equal paths have equal steps.

    Examples:
        >>> from ffi_hpy.access_path import AccessPath
        >>> path = AccessPath.root().attr("layers").array_item(2)
        >>> path, path.depth
        (<root>.layers[2], 2)
    """

    parent: AccessPath | None
    """The path without its last step; None for the root."""
    step: AccessStep | None
    """The last step; None for the root."""
    depth: int
    """The number of steps."""

    if TYPE_CHECKING:  # reflected
        _root: Any
        _attr: Any
        _attr_missing: Any
        _array_item: Any
        _array_item_missing: Any
        _map_item: Any
        _map_item_missing: Any
        _is_prefix_of: Any
        _path_equal: Any
        _to_steps: Any

    def __init__(self) -> None:
        raise ValueError("AccessPath cannot be made directly; begin with AccessPath.root()")

    @staticmethod
    def root() -> AccessPath:
        """The empty path."""
        return AccessPath._root()  # type: ignore[no-any-return]

    def attr(self, attr_key: str) -> AccessPath:
        """Add a step to a field.

        Args:
            attr_key: the field's name.
        """
        return self._attr(attr_key)  # type: ignore[no-any-return]

    def attr_missing(self, attr_key: str) -> AccessPath:
        """Add a step to a field that is missing.

        Args:
            attr_key: the field's name.
        """
        return self._attr_missing(attr_key)  # type: ignore[no-any-return]

    def array_item(self, index: int) -> AccessPath:
        """Add a step to an item of a sequence.

        Args:
            index: its position.
        """
        return self._array_item(index)  # type: ignore[no-any-return]

    def array_item_missing(self, index: int) -> AccessPath:
        """Add a step to an item that is missing.

        Args:
            index: its position.
        """
        return self._array_item_missing(index)  # type: ignore[no-any-return]

    def map_item(self, key: Any) -> AccessPath:
        """Add a step to the value of a key.

        Args:
            key: the key, any value.
        """
        return self._map_item(key)  # type: ignore[no-any-return]

    def map_item_missing(self, key: Any) -> AccessPath:
        """Add a step to a key that is missing.

        Args:
            key: the key, any value.
        """
        return self._map_item_missing(key)  # type: ignore[no-any-return]

    def is_prefix_of(self, other: AccessPath) -> bool:
        """Tell whether another path begins with all steps of this one.

        Args:
            other: the path.
        """
        return bool(self._is_prefix_of(other))

    def to_steps(self) -> Sequence[AccessStep]:
        """The steps, from the root on."""
        return self._to_steps()  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return bool(self._path_equal(other)) if isinstance(other, AccessPath) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self._path_equal(other) if isinstance(other, AccessPath) else NotImplemented

    def __hash__(self) -> int:
        return _ffi_api.RecursiveHash(self)  # type: ignore[no-any-return]
