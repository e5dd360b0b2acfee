"""The native containers: Array and Map are immutable, List and Dict are mutable and shared."""

from __future__ import annotations

from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._values.object import MISSING

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]
