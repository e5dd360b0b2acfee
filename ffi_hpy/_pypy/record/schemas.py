"""Schema: conversions by a schema, the base of the package's TypeSchema.

Plain values are converted here. The binding converts all others, because it implements the protocols and other number
classes.
"""

from __future__ import annotations

from ..context.backend import address_of, core
from ..context.binding import binding
from ..context.bridge import from_binding
from ..context.hidden import hidden
from ..context.numbers import OBJECT
from ..context.texts import check_new
from ..object.call_buffers import give, take
from .converters import Converter, Mismatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["Schema", "converter_of", "tree_of"]


class _Tree(binding.Schema):  # type: ignore[misc]
    """The binding's schema for a schema of this side; it has the description of the other schema."""

    def _describe(self) -> tuple[str, int, str, tuple[Any, ...]]:
        operation, type_index, name, args = self._schema._describe()
        return operation, type_index, name, tuple([tree_of(arg) for arg in args])

    def __repr__(self) -> str:
        return repr(self._schema)


class Schema:
    """The base class of TypeSchema: conversions."""

    __slots__ = ("_converter", "_tree")  # each created on first use, because types may be registered until then

    _converter: Converter
    _tree: Any

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, Schema, "Schema")
        return object.__new__(cls)

    @hidden
    def convert(self, value: Any) -> Any:
        """Convert a value to this schema, as a CAny of the binding; TypeError if it does not match."""
        return tree_of(self).convert(value)

    @hidden
    def check_value(self, value: Any) -> None:
        """TypeError if convert() would reject the value."""
        frame = take()
        try:
            _check(self, frame, value)
            if frame.words[0] & 0xFFFFFFFF >= OBJECT:
                core.decref(frame.words[1])
        finally:
            give(frame)


# TypeSchema forbids setting attributes.
_set_tree, _set_converter = (Schema.__dict__[name].__set__ for name in ("_tree", "_converter"))


@hidden
def _check(schema: Any, frame: CallBuffer, value: Any) -> None:
    why = None
    try:
        if converter_of(schema).convert(frame, value):
            return
    except Mismatch as mismatch:
        why = mismatch.args[0]
    except UnicodeEncodeError:
        pass  # the binding converts it or raises the error
    if why is not None:
        raise TypeError(f"type check failed for {schema!r}: {why}")
    frame.words[0] = frame.words[1] = 0
    tree_of(schema)._convert_into(value, address_of(frame.words), True)


def tree_of(schema: Any) -> Any:
    """Return the binding's schema for a schema of this side, and any other value unchanged: the binding refuses it."""
    if not isinstance(schema, Schema):
        return schema
    try:
        return schema._tree
    except AttributeError:
        tree = _Tree()
        tree._schema = schema
        _set_tree(schema, tree)
        return tree


@hidden
def converter_of(schema: Any) -> Converter:
    """Return the converter of a schema. TypeError if it names a type that is not registered."""
    try:
        found: Converter = schema._converter
    except AttributeError:
        function = from_binding(binding.schema_setter(tree_of(schema), binding.TYPE_INDEX_ANY))
        found = Converter(schema._describe(), function)
        _set_converter(schema, found)
    return found
