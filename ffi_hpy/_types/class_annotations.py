"""The annotations in the body of a class or function, as they are written there."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["forward_annotations"]


def forward_annotations(obj: Any) -> dict[str, Any]:
    """The annotations that a class or function itself has; on Python 3.14 and later, names that are not defined yet are
    ForwardRefs. A new dict."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return dict(annotationlib.get_annotations(obj, format=annotationlib.Format.FORWARDREF))
    return dict(obj.__dict__.get("__annotations__", {}))  # noqa: RUF063 - before 3.14 these are the own ones
