"""Arguments with arrays that native code cannot get as tensors: read-only memory, another byte order, long double.

A parameter that takes a sequence gets the elements as numbers. A parameter that only reads an array gets a read-only
one.
"""

from __future__ import annotations

from .. import _core
from .function_metadata import metadata_of, parameters_of
from .info import info_of_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .._core import Function
    from .schema import TypeSchema

__all__ = ["replace_refused"]

_SEQUENCES = frozenset(("Array", "List", "list", "set", "tuple", "collections.abc.Sequence", "collections.abc.Set"))
_NOT_NUMBERS = frozenset("mMOSTUV")
"""The kinds of NumPy's dtypes for times, objects, bytes, text and structures."""


def replace_refused(callee: Function | str, position: int, value: Any) -> Any:
    """Return the value that a function, or a field given by its full name, gets for an array, or a container of one,
    that was refused as a tensor: True for the value itself, whose arrays the function only reads; or a value in its
    place; None if it stays refused.

    TypeError if the function takes a sequence and Python has no class for the elements, and if a function of a bound
    library takes neither a sequence nor an array. Otherwise BufferError, with the reason, for an array of NumPy of
    another byte order, or whose elements are not numbers.
    """
    schemas = _schemas_of_field(callee) if isinstance(callee, str) else _schemas_at(callee, position)
    parts = [part for schema in schemas for part in _parts_of(schema)]
    tensors = [part.array or "" for part in parts if part.origin == "Tensor"]
    if not tensors and any(part.origin in _SEQUENCES for part in parts):
        return _with_elements(value, _where(callee, position))
    if not isinstance(callee, str) and not tensors and _is_bound(callee) and _is_array(value):
        raise TypeError(f"{_where(callee, position)}: an array of dtype {value.dtype} does not fit")
    _explain(value)
    return True if tensors and all(form.startswith("read-only") for form in tensors) else None


def _where(callee: Function | str, position: int) -> str:
    if isinstance(callee, str):
        return callee
    return f"{callee.__name__ or 'native function'}() argument {position + 1}"


def _schemas_of_field(name: str) -> list[TypeSchema]:
    """Return the schema of a field; none for another name."""
    key, _, own = name.rpartition(".")
    index = _core.type_key_to_index(key) if key else -1
    fields = () if index < 0 else info_of_index(index).fields or ()
    return [field._known_ty for field in fields if field.name == own and field._known_ty is not None]


def _schemas_at(function: Function, position: int) -> list[TypeSchema]:
    """Return the schemas of the parameter at a position (from 0), one for each overload; none if one is unknown."""
    entry = metadata_of(function)
    known = [parameters_of(each).schemas for each in entry.overloads or (entry,)]
    if any(schemas is None or position >= len(schemas) for schemas in known):
        return []
    return [schemas[position] for schemas in known if schemas is not None]


def _is_bound(function: Function) -> bool:
    """Whether a function is one of bind.h: a wrong argument is a TypeError there, as in nanobind."""
    entry = metadata_of(function)
    return all(parameters_of(each).signature is not None for each in entry.overloads or (entry,))


def _parts_of(schema: TypeSchema) -> Iterator[TypeSchema]:
    yield schema
    for arg in schema.args or ():
        yield from _parts_of(arg)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__dlpack__") and hasattr(value, "tolist") and hasattr(value, "dtype")


def _with_elements(value: Any, where: str) -> Any:
    """Return the value with lists in place of the arrays."""
    if isinstance(value, (list, tuple)):
        return [_with_elements(item, where) for item in value]
    if isinstance(value, dict):
        return dict(zip(value, _with_elements(list(value.values()), where)))
    if not _is_array(value):
        return value
    from .._values.array_numbers import elements_of

    try:
        elements = elements_of(value)
    except OverflowError as error:
        raise OverflowError(f"{where}: {error}") from None
    if elements is None:
        raise TypeError(f"{where}: Python has no class for the elements of an array of dtype {value.dtype}")
    return elements


def _explain(value: Any) -> None:
    """Raise BufferError for an array of NumPy whose elements no tensor can have; the message of NumPy names neither the
    elements nor a remedy."""
    from .._values.array_numbers import is_swapped

    if is_swapped(value):
        raise BufferError(
            "the array's elements are not in the byte order of this machine: "
            "pass array.astype(array.dtype.newbyteorder('='))"
        )
    if getattr(getattr(value, "dtype", None), "kind", "") in _NOT_NUMBERS:
        raise BufferError(f"a tensor cannot have the elements of an array of dtype {value.dtype}")
