"""What types are made of: names and indices, annotations, layouts. TypeSchema and TypeInfo stand on these modules."""

from __future__ import annotations
