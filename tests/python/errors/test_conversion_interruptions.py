"""Exceptions in the middle of a conversion: an exception that does not concern the value arrives unchanged, whatever
the name of its class."""

import asyncio
from collections.abc import Mapping
from typing import Any, Optional, Union

import pytest
from support import unique_name

import ffi_hpy
from ffi_hpy.core import TypeSchema
from ffi_hpy.dataclasses import py_class


class Own(BaseException):
    """An interruption of an unknown class."""


class Named(BaseException):
    """An interruption with the name of an exception for failed conversions."""


Named.__name__ = Named.__qualname__ = "TypeError"

KINDS = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit, Own, Named, MemoryError, RecursionError)


@py_class(unique_name("Holder"))
class Holder(ffi_hpy.Object):
    value: Any


@py_class(unique_name("Number"))
class Number(ffi_hpy.Object):
    value: float


@py_class(unique_name("Items"))
class Items(ffi_hpy.Object):
    value: list[int]


@py_class(unique_name("Entries"))
class Entries(ffi_hpy.Object):
    value: dict[str, int]


@py_class(unique_name("Either"))
class Either(ffi_hpy.Object):
    value: Union[int, list[float], str]


@py_class(unique_name("Perhaps"))
class Perhaps(ffi_hpy.Object):
    value: Optional[float]


def makers(kind):
    """Return values whose conversion raises, by the origin of the exception."""

    def stop(*_):
        raise kind("on its way")

    class Value:
        __tvm_ffi_value__ = stop

    class Object:
        __tvm_ffi_object__ = stop

    class Later:
        def __tvm_ffi_value__(self):
            return Value()

    class Float(float):
        __float__ = stop

    class Text(Exception):
        __str__ = stop

    class Told:
        def __tvm_ffi_value__(self):
            raise Text

    class Key(str):
        __slots__ = ()
        __repr__ = stop

    class Entered(Mapping):
        __getitem__ = __len__ = __iter__ = items = stop

    class Described(dict):
        items = stop

    return {
        "a value": Value(),
        "an object": Object(),
        "the value of a value": Later(),
        "a number": Float(),
        "the text of an exception": Told(),
        "the text of a key": {Key("a"): "no number"},
        "a mapping": Entered(),
        "a dict": Described(a=1),
    }


FITS = {
    "a value": (Holder, Number, Items, Entries, Either, Perhaps),
    "an object": (Holder, Number, Items, Entries, Either, Perhaps),
    "the value of a value": (Holder, Number, Items, Entries, Either, Perhaps),
    "a number": (Number, Perhaps),
    "the text of an exception": (Number, Items),
    "the text of a key": (Entries,),
    "a mapping": (Entries,),
    "a dict": (Entries,),
}
"""The classes whose fields convert each value far enough to raise."""

USUAL = {Holder: 1, Number: 1.0, Items: [1], Entries: {"a": 1}, Either: 1, Perhaps: 1.0}


def schema_of(cls):
    return TypeSchema.from_annotation(cls.__annotations__["value"])


WAYS = {
    "a new object": lambda cls, value: cls(value),
    "a new object by name": lambda cls, value: cls(value=value),
    "an assignment": lambda cls, value: setattr(cls(USUAL[cls]), "value", value),
    "a schema": lambda cls, value: schema_of(cls).convert(value),
    "a check": lambda cls, value: schema_of(cls).check_value(value),
    "an object in a callback": lambda cls, value: ffi_hpy.convert(lambda: cls(value))(),
}

CASES = [(raiser, cls) for raiser, classes in FITS.items() for cls in classes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_an_interruption_in_a_conversion_arrives_as_itself(kind, way):
    values = makers(kind)
    for raiser, cls in CASES:
        exhausted = issubclass(kind, (MemoryError, RecursionError))
        if exhausted and raiser.startswith("the text"):
            continue  # skip strings that cannot be made without stack
        with pytest.raises(kind) as caught:
            WAYS[way](cls, values[raiser])
        assert caught.type is kind, (raiser, cls)
        assert str(caught.value) == "on its way", (raiser, cls)


def test_an_exception_about_the_value_is_still_a_mismatch():
    class Value:
        def __tvm_ffi_value__(self):
            raise LookupError("not there")

    for cls in (Number, Items, Entries):
        with pytest.raises(TypeError):
            cls(Value())
