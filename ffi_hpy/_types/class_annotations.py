"""The annotations in the body of a class or function, unevaluated."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["forward_annotations"]


def forward_annotations(obj: Any) -> dict[str, Any]:
    """Return a new dict of the annotations of a class or function, without inherited ones. On Python 3.14 and later,
    undefined names are ForwardRefs."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return dict(annotationlib.get_annotations(obj, format=annotationlib.Format.FORWARDREF))
    return dict(obj.__dict__.get("__annotations__", {}))  # noqa: RUF063 - before 3.14 these are the own ones
