"""The native containers: Array and Map do not change once made, List and Dict do and are shared."""

from __future__ import annotations

from ._mapping import Dict, Map
from ._object import MISSING
from ._sequence import Array, List

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]
