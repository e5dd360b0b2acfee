"""States of bound objects: pickle and JSON graphs use the `__getstate__` and `__setstate__` of an author."""

from __future__ import annotations

from .. import _core, _ffi_api
from .._types.info import info_of_class
from ..container import Array, List, Map
from .values import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._core import Function


def add_getter(cls: Any) -> None:
    """Let JSON graphs have objects of a class that has got `__getstate__`."""
    _define(cls, "__data_to_json__", lambda obj: _ffi_api.ToJSONGraph(_to_native(cls.__getstate__(obj)), None))


def add_setter(cls: Any, function: Function) -> None:
    """Let a function, which returns an object of its state, read pickles and JSON graphs."""

    def __setstate__(self: Any, state: Any) -> None:
        self.__init_handle_by_constructor__(function, keep(state))

    cls.__setstate__ = __setstate__
    _define(cls, "__data_from_json__", lambda graph: function(keep(_to_python(_ffi_api.FromJSONGraph(graph)))))


def _define(cls: type, name: str, hook: Any) -> None:
    info = info_of_class(cls)
    assert info is not None
    _core.type_attr_define(info.type_index, name, hook)


def _to_native(value: Any) -> Any:
    """Return a value whose lists and tuples have different classes, so that a JSON graph distinguishes them."""
    if isinstance(value, dict):
        return Map({_to_native(key): _to_native(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return (List if isinstance(value, list) else Array)([_to_native(item) for item in value])
    return value


def _to_python(value: Any) -> Any:
    """Return the value that _to_native() was called with."""
    if isinstance(value, Map):
        return {_to_python(key): _to_python(item) for key, item in value.items()}
    if isinstance(value, (Array, List)):
        return (list if isinstance(value, List) else tuple)([_to_python(item) for item in value])
    return value
