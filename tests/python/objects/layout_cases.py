"""A program for test_layout_safety: tries to pass an object off as one with another struct, and prints a line for each
case.

    python layout_cases.py GROUP

A line has the name of the case, a tab, and the result: the name of an exception's class, or "ok". The name is written
before the case runs, so that the last line names a case that ended the process.
"""

from __future__ import annotations

import copyreg
import sys
import threading
import types
from typing import Any

import ffi_hpy
from ffi_hpy import _core, core
from ffi_hpy._values.plain import OpaquePtr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = tuple[str, Callable[[], Any]]

# Types with a struct, or with a larger struct than their base's
ROOTS = [
    _core.Function, _core.CObject, _core.ObjectRValueRef, _core.PlainValue,
    _core.FieldSlot, _core.Initializer, _core.CAny, _core.Schema,
]  # fmt: skip
NATIVE = sorted((t for t in vars(_core).values() if isinstance(t, type)), key=lambda t: t.__name__)
PUBLIC = [
    ffi_hpy.Array, ffi_hpy.List, ffi_hpy.Map, ffi_hpy.Dict, ffi_hpy.Object, ffi_hpy.Module, ffi_hpy.Device,
    ffi_hpy.dtype, core.DataType, OpaquePtr, core.TypeSchema, core.FFIProperty,
]  # fmt: skip
TYPES = list(dict.fromkeys([*NATIVE, *(t for t in PUBLIC if isinstance(t, type))]))
BUILTINS = [
    str, int, float, bytes, tuple, list, dict, set, complex, bytearray, type, Exception, OSError, threading.local,
]  # fmt: skip
ARGUMENTS: list[tuple[Any, ...]] = [(), (1,), ("int32",), (0, 0, 0), (ffi_hpy.Array([1]),)]


class Plain:
    pass


class Slotted:
    __slots__ = ("a",)


def root_of(t: type) -> type | None:
    """Return the type whose struct the instances have, None for a class without a struct."""
    return next((root for root in ROOTS if issubclass(t, root)), None)


def name_of(t: type) -> str:
    return f"{t.__module__.rpartition('.')[2]}.{t.__name__}"


def instances() -> dict[str, Any]:
    array = ffi_hpy.Array([1, 2])
    return {
        "array": array,
        "list": ffi_hpy.List([1]),
        "map": ffi_hpy.Map({1: 2}),
        "function": ffi_hpy.convert(lambda *_: None),
        "object": ffi_hpy.Object(),
        "device": ffi_hpy.Device("cpu"),
        "dtype": core.DataType("int32"),
        "cany": _core.CAny(1),
        "moved": array._move(),
        "pointer": OpaquePtr(1),
        "schema": core.TypeSchema("int"),
    }


def touch(made: Any) -> None:
    """Use an object in every way that reads its struct."""
    actions: list[Callable[[Any], Any]] = [
        repr, str, hash, len, iter, list, _core.convert, _core.cany_value, lambda x: x == x, lambda x: x(1),
        lambda x: x[0], lambda x: 1 in x, lambda x: x.get(ffi_hpy.Object()), lambda x: x(ffi_hpy.Object(), ()),
        lambda x: x.__init__(), lambda x: x.__init__(1),
    ]  # fmt: skip
    for name in dir(made):
        if name not in ("__class__", "__init_subclass__", "__subclasshook__"):
            actions.append(lambda x, name=name: getattr(x, name))
    for action in actions:
        try:
            action(made)
        except (TypeError, ValueError, AttributeError, LookupError, RuntimeError):
            pass


def mixed_classes() -> Iterator[Case]:
    """A class with two structs, or with a struct and the layout of a built-in type, has no instances."""
    for first in TYPES:
        for second in [*TYPES, *BUILTINS]:
            a, b = root_of(first), root_of(second)
            if issubclass(first, second) or issubclass(second, first) or a is b or a is None:
                continue
            if b is not None and (issubclass(a, b) or issubclass(b, a)):
                continue
            for bases in ((first, second), (second, first)):
                yield f"class ({name_of(bases[0])}, {name_of(bases[1])})", lambda bases=bases: mix(bases)


def mix(bases: tuple[type, ...]) -> None:
    metaclass = next((type(base) for base in bases if type(base) is not type), type)
    made = type.__new__(metaclass, "Mixed", bases, {})
    for new in (made.__new__, bases[0].__new__, bases[1].__new__):
        try:
            touch(new(made))
        except TypeError:
            continue
        raise AssertionError("an instance was made")
    made()


def functions_with_containers() -> Iterator[Case]:
    """A class of both kinds has the layout of functions. Only a function can be stored in an instance."""
    for container in (ffi_hpy.Array, ffi_hpy.List, ffi_hpy.Map, ffi_hpy.Dict):
        for bases in ((_core.Function, container), (container, _core.Function)):

            def call(bases: Any = bases, container: Any = container) -> None:
                mixed = type(container)("Mixed", bases, {})
                made = mixed.__new__(mixed)
                container.__init__(made, {1: 2} if issubclass(mixed, _core.CMapping) else [1, 2])
                made(1)

            yield f"{name_of(bases[0])}, {name_of(bases[1])}", call
    yield "class_register", lambda: _core.class_register(71, type("Sub", (_core.Function,), {}))


def foreign_new() -> Iterator[Case]:
    """The __new__ of a type makes instances of that type and of classes derived from it."""
    for owner in [*TYPES, int, str, tuple, Exception]:
        maker = next(t for t in owner.__mro__ if "__new__" in vars(t))
        for cls in [*TYPES, Plain, int]:
            if not issubclass(cls, maker) and not (root_of(owner) is None and root_of(cls) is None):
                for arguments in ARGUMENTS:
                    yield (
                        f"{name_of(owner)}.__new__({name_of(cls)}, {arguments})",
                        (lambda owner=owner, cls=cls, arguments=arguments: touch(owner.__new__(cls, *arguments))),
                    )
    for owner in TYPES:
        for arguments in ((), (1,), (None,), ("abc",), (ffi_hpy.Array([1]),)):
            yield f"{name_of(owner)}.__new__{arguments}", lambda o=owner, a=arguments: o.__new__(*a)


def unmade_objects() -> Iterator[Case]:
    """object.__new__ is refused, or makes an object that no function accepts."""

    def refuse(make: Callable[[], Any]) -> None:
        made = make()
        touch(made)
        if isinstance(made, _core.Function):
            made()
        elif isinstance(made, (_core.CSequence, _core.CMapping)):
            len(made), made[0]
        raise TypeError("it was of no use")

    for t in TYPES:
        yield f"object.__new__({name_of(t)})", lambda t=t: refuse(lambda: object.__new__(t))
        yield f"__newobj__({name_of(t)})", lambda t=t: refuse(lambda: copyreg.__newobj__(object, t))
        yield f"_reconstructor({name_of(t)})", lambda t=t: refuse(lambda: copyreg._reconstructor(t, object, None))
    step = iter(ffi_hpy.Array(range(10_000)))
    reduce = getattr(step, "__reduce__", None)
    try:
        chunks = type(reduce()[1][0].__reduce__()[1][0]) if reduce else None
    except (TypeError, LookupError, AttributeError):
        chunks = None  # this interpreter does not expose its iterator type
    if chunks is not None and chunks.__module__ == "ffi_hpy._core":
        yield "chunks()", lambda: chunks()()
        yield "object.__new__(chunks)", lambda: object.__new__(chunks)()


def other_classes() -> Iterator[Case]:
    """`__class__` can be set only to classes with the same struct."""
    set_class = object.__dict__["__class__"].__set__
    for name, value in instances().items():
        for t in [*TYPES, Plain, Slotted, object, int, str]:
            if root_of(type(value)) is not root_of(t):
                yield f"{name}.__class__ = {name_of(t)}", lambda v=value, t=t: (setattr(v, "__class__", t), touch(v))
                yield f"__set__({name}, {name_of(t)})", lambda v=value, t=t: (set_class(v, t), touch(v))
    for t in TYPES:
        for cls in (Plain, Slotted):
            yield f"{cls.__name__}().__class__ = {name_of(t)}", lambda t=t, c=cls: setattr(c(), "__class__", t)
    for first in TYPES:
        for second in [*TYPES, str]:
            if root_of(first) is not root_of(second):
                yield f"__bases__ {name_of(first)} to {name_of(second)}", lambda a=first, b=second: rebase(a, b)


def rebase(first: type, second: type) -> None:
    class Sub(first):  # type: ignore[misc,valid-type]
        __slots__ = ()

    Sub.__bases__ = (second,)


def slots() -> Iterator[Case]:
    """A slot, method or attribute of a native type that is called through the class checks its arguments."""
    wrong = {"str": "abc", "None": None, "int": 3, "type": int, "plain": Plain(), **instances()}
    for t in NATIVE:
        for name, value in sorted(vars(t).items()):
            if name in ("__new__", "__doc__", "__module__", "__dict__", "__weakref__", "__hash__"):
                continue
            if name == "__name__" and not _core.HAS_EXTENSION:
                continue  # PyPy 7.3 drops the exception of its descriptor, so that the result is an empty name
            if isinstance(value, (types.FunctionType, staticmethod, classmethod)) or value is None:
                continue
            for label, receiver in wrong.items():
                if isinstance(receiver, t):
                    continue
                for arguments in ((), (receiver,), (0,), (1, 2), (ffi_hpy.Array([1]), ())):
                    if callable(value):
                        yield (
                            f"{t.__name__}.{name}({label}, {len(arguments)})",
                            (lambda v=value, r=receiver, a=arguments: v(r, *a)),
                        )
                if receiver is not None and hasattr(type(value), "__get__") and not callable(value):
                    yield f"{t.__name__}.{name}.__get__({label})", lambda v=value, r=receiver: v.__get__(r, type(r))
                if hasattr(type(value), "__set__"):
                    yield f"{t.__name__}.{name}.__set__({label})", lambda v=value, r=receiver: v.__set__(r, 1)


def descriptors() -> Iterator[Case]:
    """The descriptor protocol, called through the class."""
    for t in (_core.FieldSlot, core.FFIProperty):
        for label, receiver in {"int": 1, "str": "abc", **instances()}.items():
            for name, arguments in (
                ("__get__", (2,)), ("__get__", (2, int)), ("__set__", (2, 3)), ("__delete__", (2,)), ("get", (2,)),
                ("set", (2, 3)),
            ):  # fmt: skip
                if hasattr(t, name):
                    yield (
                        f"{t.__name__}.{name}({label})",
                        lambda t=t, n=name, r=receiver, a=arguments: getattr(t, n)(r, *a),
                    )


GROUPS: dict[str, Callable[[], Iterator[Any]]] = {
    function.__name__: function
    for function in (
        mixed_classes, functions_with_containers, foreign_new, unmade_objects, other_classes, slots, descriptors,
    )
}  # fmt: skip


def main() -> None:
    for name, run in GROUPS[sys.argv[1]]():
        print(name, end="\t", flush=True)
        try:
            run()
        except BaseException as error:
            print(type(error).__name__)
        else:
            print("ok")


if __name__ == "__main__":
    main()
