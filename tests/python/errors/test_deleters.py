"""Deleters and destructors in Python that run while an exception propagates: they neither see nor replace the
exception. The functions are made with ctypes, which reports a pending exception."""

import ctypes
import sys
from typing import Any

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, collect_garbage, unique_name
from support.dlpack_structs import Tensor

import ffi_hpy
from ffi_hpy import _core
from ffi_hpy.dataclasses import field, py_class

pytestmark = [
    pytest.mark.skipif(IS_PYPY, reason="ctypes.pythonapi is CPython's"),
    pytest.mark.skipif(IS_DEBUG, reason="hpy's debug mode refuses the context of a call in which a deleter has called"),
]


class Managed(ctypes.Structure):
    """DLManagedTensor."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [*Tensor._fields_, ("context", ctypes.c_void_p), ("deleter", DELETER)]
CAPSULE_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
kept = []
n_deleted = [0]


def call_natively():
    """Call native code, and fail in it."""
    ffi_hpy.convert([1, "a text of some length"])
    try:
        ffi_hpy.convert(lambda: [][1])()
    except IndexError:
        n_deleted[0] += 1


class Array:
    """An array with a deleter in Python that uses native code."""

    def __init__(self, ndim=1, after=call_natively):
        self.ndim = ndim
        self.after = after

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        memory, shape = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_int64 * 1)(3)
        after = self.after
        deleter = DELETER(lambda pointer: after())
        managed = Managed(ctypes.addressof(memory), 1, 0, self.ndim, 2, 32, 1, shape, None, 0, None, deleter)
        destructor = CAPSULE_DESTRUCTOR(lambda capsule: n_deleted.append(capsule))
        kept.append((memory, shape, managed, destructor))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(managed), b"dltensor", ctypes.cast(destructor, ctypes.c_void_p))


class Refuses:
    """A value whose conversion raises an error with a message."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        raise ZeroDivisionError("refused")


class Value:
    def __tvm_ffi_value__(self):
        return Array()


def raise_it(*_):
    raise ZeroDivisionError("refused")


def take_out(*args):
    return ffi_hpy.Array(args)[0]


@py_class(unique_name("Two"))
class Two(ffi_hpy.Object):
    first: Any
    second: Any = field(default=None)


@py_class(unique_name("Typed"))
class Typed(ffi_hpy.Object):
    items: list[Any]
    other: int = field(default=0)


@py_class(unique_name("Made"))
class Made(ffi_hpy.Object):
    first: Any
    second: Any = field(default_factory=raise_it)


ignore = ffi_hpy.convert(lambda *args: None)
fail = ffi_hpy.convert(raise_it)
bad_array = Array(ndim=-1)
schema = ffi_hpy.core.TypeSchema.from_annotation(list[Any])


def gives(result):
    return ffi_hpy.convert(lambda *args: result)


def in_frame():
    """The last reference to a wrapper ends while an exception unwinds the wrapper's frame."""
    alive = ffi_hpy.from_dlpack(Array())
    raise_it(alive.shape)


def over_iterator():
    for _ in ffi_hpy.Array([Array(), Array()]):
        raise_it()


PLACES = {
    "second argument": lambda: ignore(Array(), Refuses()),
    "tenth argument": lambda: ignore(*[Array()] * 9, Refuses()),
    "argument that a converter returns": lambda: ignore(Value(), Refuses()),
    "call that fails": lambda: fail(Array()),
    "call that fails with a list": lambda: fail([Array(), Array()]),
    "call that fails with a dict": lambda: fail({"a": Array()}),
    "second item of a list": lambda: ffi_hpy.Array([Array(), Refuses()]),
    "second item of a List": lambda: ffi_hpy.List([Array(), Refuses()]),
    "second value of a dict": lambda: ffi_hpy.Map({"a": Array(), "b": Refuses()}),
    "second value of a Dict": lambda: ffi_hpy.Dict({"a": Array(), "b": Refuses()}),
    "second key of a mapping": lambda: ffi_hpy.Map({"a": Array(), Refuses(): 1}),
    "nested list": lambda: ffi_hpy.Array([[Array(), {"a": Array()}], [Refuses()]]),
    "generator": lambda: ffi_hpy.Array(Array() if i == 0 else raise_it() for i in range(2)),
    "appended item": lambda: ffi_hpy.List([]).append([Array(), Refuses()]),
    "inserted item": lambda: ffi_hpy.List([]).insert(0, [Array(), Refuses()]),
    "assigned item": lambda: ffi_hpy.List([1]).__setitem__(0, [Array(), Refuses()]),
    "extended list": lambda: ffi_hpy.List([]).extend([Array(), Refuses()]),
    "assigned value": lambda: ffi_hpy.Dict({}).__setitem__("a", [Array(), Refuses()]),
    "value of an assigned key": lambda: ffi_hpy.Dict({}).__setitem__(Array(), Refuses()),
    "converted list": lambda: ffi_hpy.convert([Array(), Refuses()]),
    "second field": lambda: Two(Array(), Refuses()),
    "second field by name": lambda: Two(first=Array(), second=Refuses()),
    "factory of a second field": lambda: Made(Array()),
    "assigned field": lambda: setattr(Two(1), "first", [Array(), Refuses()]),
    "list of a typed field": lambda: Typed([Array(), Refuses()]),
    "list of a schema": lambda: schema.convert([Array(), Refuses()]),
    "list that a schema checks": lambda: schema.check_value([Array(), Refuses()]),
    "dict of a schema": lambda: ffi_hpy.core.TypeSchema.from_annotation(dict).convert({1: Array(), 2: Refuses()}),
    "result of a callback": lambda: gives([Array(), Refuses()])(),
    "wrapper in a frame": in_frame,
    "iterator": over_iterator,
    "replaced object": lambda: Two.__init__(Two(Array()), raise_it()),
    "array of one dimension too few": lambda: ffi_hpy.from_dlpack(bad_array),
    "list with such an array": lambda: ffi_hpy.Array([Array(), bad_array]),
    "any value": lambda: _core.CAny([Array(), Refuses()]),
}


if IS_OWN_DEBUG:
    del PLACES["result of a callback"]  # a context without the extension reports only that the conversion failed

EXPECTED = (ZeroDivisionError, ValueError, TypeError)
"""Conversions by a schema raise a TypeError with the refusal; the array that cannot be converted raises ValueError."""


@pytest.mark.parametrize("place", PLACES)
def test_a_deleter_in_python_does_not_replace_an_exception(place, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    n_before = n_deleted[0]
    with pytest.raises(EXPECTED) as caught:
        PLACES[place]()
    assert caught.type is ValueError or "refused" in str(caught.value)
    del caught
    collect_garbage(lambda: n_deleted[0] > n_before)
    assert not unraisable, unraisable


@pytest.mark.parametrize("place", PLACES)
def test_a_deleter_that_raises_is_reported_and_the_exception_stays(place, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: unraisable.append(told.exc_type))

    def broken():
        raise LookupError("in the deleter")

    monkeypatch.setattr(Array.__init__, "__defaults__", (1, broken))
    with pytest.raises(EXPECTED) as caught:
        PLACES[place]()
    assert caught.type is ValueError or "refused" in str(caught.value)
    del caught
    collect_garbage(n_rounds=1)  # also destroys the objects of the frames
    assert set(unraisable) <= {LookupError}
