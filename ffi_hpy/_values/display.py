"""Tables for notebooks: of objects by their fields, and of tensors."""

from __future__ import annotations

from html import escape

from .._core import CObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["objects_to_html", "tensor_to_html"]

_MOST = 20  # the number of rows and columns that are shown


def objects_to_html(items: Any) -> str | None:
    """Return a table with a row for each object and a column for each field. None, which shows plain text, for items
    that are not objects of one type with fields."""
    shown = [items[i] for i in range(min(len(items), _MOST))]
    classes = {type(item) for item in shown}
    cls = classes.pop() if len(classes) == 1 else None
    info = getattr(cls, "__tvm_ffi_type_info__", None)
    if cls is None or info is None or not issubclass(cls, CObject):
        return None
    names: list[str] = []
    while info is not None:
        names[:0] = [field.name for field in info.fields or ()]
        info = info.parent_type_info
    if not names:
        return None
    rows = [[str(i), *(_text(getattr(item, name, "")) for name in names)] for i, item in enumerate(shown)]
    rest = f", {len(items) - _MOST} more" if len(items) > _MOST else ""
    return _table(f"{len(items)} {cls.__name__}{rest}", ["", *names], rows)


def tensor_to_html(tensor: Any) -> str:
    """Return shape, element type and device; and below them the numbers of a small tensor of one or two dimensions, if
    NumPy can read them."""
    title = f"Tensor {tuple(tensor.shape)}, {tensor.dtype}, {tensor.device}"
    rows: list[list[str]] = []
    if 1 <= len(tensor.shape) <= 2 and all(0 < extent <= _MOST for extent in tensor.shape):
        try:
            import numpy

            array = numpy.from_dlpack(tensor)
            rows = [[_text(value) for value in row.tolist()] for row in numpy.atleast_2d(array)]
        except Exception:
            rows = []  # another device, an element type that NumPy lacks, or no NumPy: the title is enough
    return _table(title, [], rows)


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [f"<caption>{escape(title)}</caption>"]
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines += [f"<tr>{cells}</tr>"] if cells else []
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table>\n" + "\n".join(lines) + "\n</table>"
