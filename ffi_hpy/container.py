"""The native containers: Array and Map are immutable, List and Dict are mutable and shared."""

from __future__ import annotations

from ._mapping import Dict, Map
from ._object import MISSING
from ._sequence import Array, List

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]
