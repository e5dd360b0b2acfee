"""The native containers: Array and Map do not change once made, List and Dict do and are shared."""

from __future__ import annotations

from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._values.object import MISSING

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]
