"""Schema: conversions by a schema, from which the package's TypeSchema derives.

The binding compiles a schema to a tree, and the core makes a native function of a tree, which converts native values.
Plain values and native objects go to that function at once. All others go through the binding, which knows protocols,
containers and numbers of other classes.
"""

from __future__ import annotations

from .arguments import put
from .backend import SAFE_CALL, address_of, bytes_at, cast, core, new_words, words_at
from .binding import binding
from .bridge import lower
from .errors import hidden, raise_taken, take_pending
from .frames import give, take
from .natives import CAny
from .numbers import INT64_MAX, INT64_MIN, OBJECT, OPAQUE_PTR, OPAQUE_PY_OBJECT
from .objects import Wrapper, type_index_at
from .results import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Converter", "Misfit", "Schema", "converter_of", "is_native", "schema_setter", "tree_of"]


class Misfit(Exception):
    """A value does not fit; the argument says why."""


@hidden
def is_native(value: Any) -> bool:
    """Whether the native function of a schema says the same of a value as the binding would."""
    t = type(value)
    if t is int:
        return INT64_MIN <= value <= INT64_MAX
    if t is str or t is float or t is bool or value is None or t is bytes:
        return True
    if isinstance(value, Wrapper):  # what is inside of a Python object may have protocols
        address = value._address
        return bool(address) and type_index_at(address) != OPAQUE_PY_OBJECT
    return False


class Converter:
    """The native function of a schema."""

    __slots__ = ("_address", "_call", "_function")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._address: int = function._address
        self._call: Any = cast(SAFE_CALL, words_at(self._address)[3])

    @hidden
    def convert(self, value: Any, out: Any) -> None:
        """Convert what is_native() into the two words at a pointer, which must be None and own it afterwards. Misfit
        if it does not fit."""
        frame = take()
        try:
            put(frame, 2, value, "a value")
            words = frame.words
            words[0] = OPAQUE_PTR
            words[1] = address_of(out)
            result = frame.result
            result[0] = result[1] = 0
            if self._call(self._address, words, 2, result) != 0:
                error = take_pending()
                frame.release()
                _raise_misfit(error)
        finally:
            give(frame)


@hidden
def _raise_misfit(error: int) -> None:
    if error:
        cell = words_at(error)
        if bytes_at(cell[3], cell[4]) == b"TypeError":
            why = text_of(bytes_at(cell[5], cell[6]))
            core.decref(error)
            raise Misfit(why)
    raise_taken(error, "a conversion")


class _Tree(binding.Schema):  # type: ignore[misc, name-defined]
    """The binding's schema for one here: it describes itself as that does."""

    def _describe(self) -> tuple[str, int, str, tuple[Any, ...]]:
        operation, type_index, name, args = self._schema._describe()
        return operation, type_index, name, tuple([tree_of(arg) for arg in args])

    def __repr__(self) -> str:
        return repr(self._schema)


class Schema:
    """What TypeSchema derives from: conversions."""

    __slots__ = ("_converter", "_tree")  # each made at the first use, because types may be registered until then

    @hidden
    def convert(self, value: Any) -> CAny:
        """The value as one of this schema; TypeError if it is none."""
        words = new_words(2)
        _convert(self, value, words, False)
        return CAny._of(words)

    @hidden
    def check_value(self, value: Any) -> None:
        """TypeError if convert() would refuse the value."""
        words = new_words(2)
        _convert(self, value, words, True)
        if words[0] & 0xFFFFFFFF >= OBJECT:
            core.decref(words[1])


_set_tree, _set_converter = Schema._tree.__set__, Schema._converter.__set__  # type: ignore[attr-defined]


@hidden
def _convert(schema: Any, value: Any, words: Any, is_check: bool) -> None:
    if not is_native(value):
        tree_of(schema)._convert_into(value, address_of(words), is_check)
        return
    try:
        converter_of(schema).convert(value, words)
    except Misfit as misfit:
        why = misfit.args[0]
    except UnicodeEncodeError:
        tree_of(schema)._convert_into(value, address_of(words), is_check)  # which says how
        return
    else:
        return
    raise TypeError(f"{'type check' if is_check else 'type conversion'} failed for {schema!r}: {why}")


def tree_of(schema: Any) -> Any:
    """The binding's schema for one here. TypeError for a value that is none."""
    if not isinstance(schema, Schema):
        raise TypeError(f"expected a TypeSchema, got {type(schema).__name__}")
    try:
        return schema._tree
    except AttributeError:
        tree = _Tree()
        tree._schema = schema
        _set_tree(schema, tree)
        return tree


def converter_of(schema: Any) -> Converter:
    """The native function of a schema. TypeError if it names a type that is not registered."""
    try:
        found: Converter = schema._converter
    except AttributeError:
        found = Converter(schema_setter(schema, binding.TYPE_INDEX_ANY))
        _set_converter(schema, found)
    return found


def schema_setter(*args: Any) -> Any:
    """A native Function(field address, value) that converts by a schema and writes."""
    if len(args) != 2:
        raise TypeError(f"schema_setter() takes schema, type_index, got {len(args)}")
    return lower(binding.schema_setter(tree_of(args[0]), args[1]))
