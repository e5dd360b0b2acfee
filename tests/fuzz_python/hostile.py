"""Objects that misbehave when native code calls their methods: they change containers, raise, recurse, and lie."""

from __future__ import annotations

import gc

from values import Values
from world import IS_PYPY_8, Planned, here

import ffi_hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ERRORS = (ValueError, TypeError, KeyError, IndexError, AttributeError, StopIteration, RuntimeError, RecursionError)
_ERRORS += (OverflowError, BufferError, OSError, NotImplementedError)


def mischief() -> None:
    """Do something random and unexpected. The number per call is limited."""
    world = here()
    world.note_question()
    if not world.may_go_wild():
        return
    roll = world.below(100)
    if roll < 45:
        return
    if roll < 75:
        change(world.pick(world.pool))
    elif roll < 83:
        raise world.pick(_ERRORS)("planned")
    elif roll < 85:
        world.is_planned = True
        raise Planned
    elif roll < 92:
        world.dangerous()
    elif roll < 98:
        world.pool[world.below(len(world.pool))] = None
    elif world.one_in(20):
        gc.collect()


def change(victim: Any) -> None:
    """Change a container; ignore other values."""
    world = here()
    values = Values(world)
    how = world.below(8)
    if isinstance(victim, (list, ffi_hpy.List)):
        if how == 0:
            victim.clear()
        elif how == 1:
            victim.append(values.simple())
        elif how == 2:
            del victim[world.below(3) :]
        elif how == 3:
            victim.insert(0, values.any(2))
        elif how == 4 and len(victim) < 200:
            victim.extend([values.simple()] * world.below(40))
        elif len(victim):
            if how == 5:
                victim.pop(world.below(len(victim)))
            elif how == 6:
                victim[world.below(len(victim))] = values.any(2)
            else:
                victim.reverse()
    elif isinstance(victim, (dict, ffi_hpy.Dict)):
        if how < 2:
            victim.clear()
        elif how < 6 and len(victim) < 200:
            for _ in range(world.below(20)):
                victim[values.key()] = values.simple()
        else:
            for key in list(victim)[: world.below(4)]:
                del victim[key]


def answer(kind: str) -> Any:
    """Return the result of a special method: mostly a suitable value, sometimes any value."""
    mischief()
    values = Values(here())
    return values.any(2) if values.world.one_in(6) else values.of_kind(kind)


class _Asked:
    """All special methods that native code may call."""

    def __index__(self) -> Any:
        return answer("int")

    def __int__(self) -> Any:
        return answer("int")

    def __float__(self) -> Any:
        return answer("float")

    def __bool__(self) -> Any:
        return answer("bool")

    def __hash__(self) -> Any:
        return answer("int")

    def __eq__(self, other: object) -> Any:
        return answer("bool")

    def __ne__(self, other: object) -> Any:
        return answer("bool")

    def __lt__(self, other: object) -> Any:
        return answer("bool")

    def __repr__(self) -> Any:
        return answer("str")

    def __str__(self) -> Any:
        return answer("str")

    def __format__(self, spec: str) -> Any:
        return answer("str")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return answer("any")

    def __bytes__(self) -> Any:
        return answer("bytes")

    def __fspath__(self) -> Any:
        return answer("str")

    def __enter__(self) -> Any:
        return answer("any")

    def __exit__(self, *args: object) -> Any:
        return answer("bool")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return answer("tuple")

    def __copy__(self) -> Any:
        return answer("any")

    def __deepcopy__(self, memo: Any) -> Any:
        return answer("any")


class _Sequenced:
    def __len__(self) -> Any:
        return answer("int")

    def __getitem__(self, key: Any) -> Any:
        if here().mischiefs_left <= 0:
            raise IndexError(key)
        return answer("any")

    def __setitem__(self, key: Any, value: Any) -> None:
        mischief()

    def __delitem__(self, key: Any) -> None:
        mischief()

    def __contains__(self, key: Any) -> Any:
        return answer("bool")

    def __iter__(self) -> Any:
        mischief()
        return self

    def __next__(self) -> Any:
        if here().mischiefs_left <= 0 or here().one_in(4):
            raise StopIteration
        return answer("any")

    def __reversed__(self) -> Any:
        return answer("list")

    def keys(self) -> Any:
        return answer("list")

    def items(self) -> Any:
        return answer("pairs")

    def values(self) -> Any:
        return answer("list")


class _TupleSequenced(_Sequenced):
    """The methods of a hostile tuple. When C code receives a tuple, PyPy 8 reads its items; for a dict, it reads the
    length. If that raises, PyPy 8 aborts the process (call_no_args, sequence_get_item of
    tests/python/interpreter_faults.py)."""

    if IS_PYPY_8:
        __iter__, __len__ = tuple.__iter__, tuple.__len__


class _DictSequenced(_Sequenced):
    """The methods of a hostile dict."""

    if IS_PYPY_8:
        __len__ = dict.__len__


class _Protocolled:
    """The attributes that the package looks up on the class of a value."""

    def __dlpack__(self, **options: Any) -> Any:
        return answer("capsule")

    def __dlpack_device__(self) -> Any:
        return answer("tuple")

    def __tvm_ffi_object__(self) -> Any:
        return answer("object")

    def __tvm_ffi_int__(self) -> Any:
        return answer("int")

    def __tvm_ffi_float__(self) -> Any:
        return answer("float")

    def __tvm_ffi_value__(self) -> Any:
        return answer("any")

    def __tvm_ffi_opaque_ptr__(self) -> Any:
        return answer("int")

    def __dlpack_data_type__(self) -> Any:
        return answer("tuple")

    def __cuda_stream__(self) -> Any:
        return answer("tuple")

    def asobject(self) -> Any:
        return answer("object")


class _Attributed:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and here().one_in(2):
            raise AttributeError(name)
        return answer("any")

    def __setattr__(self, name: str, value: Any) -> None:
        mischief()


class _Lasting:
    def __del__(self) -> None:
        keep(self)  # the interpreter decides when this runs, so it must not use the random numbers of a call


kept: list[Any] = []
"""Resurrected objects."""


def keep(value: Any) -> None:
    """Keep an object that ends, for a while."""
    kept.append(value)
    del kept[:-3]


def _made() -> list[type]:
    classes: list[type] = []
    for name, bases in (
        ("Plain", (_Asked,)),
        ("Sequence", (_Asked, _Sequenced)),
        ("Reading", (_Sequenced,)),
        ("Protocols", (_Protocolled,)),
        ("Attributes", (_Attributed,)),
        ("Everything", (_Asked, _Sequenced, _Protocolled, _Attributed)),
        ("Int", (_Asked, int)),
        ("Float", (_Asked, float)),
        ("Str", (_Asked, str)),
        ("List", (_Asked, _Sequenced, list)),
        ("Tuple", (_Asked, _TupleSequenced, tuple)),
        ("Dict", (_Asked, _DictSequenced, dict)),
        ("Bytes", (_Asked, bytes)),
        ("Error", (_Asked, ValueError)),
        ("Meta", (_Asked, type)),
        ("Lasting", (_Lasting, _Asked)),
        ("LastingList", (_Lasting, list)),
        ("Device", (_Asked, ffi_hpy.Device)),
        ("Array", (_Asked, _Sequenced, ffi_hpy.Array)),
        ("FFIList", (_Asked, ffi_hpy.List)),
        ("FFIDict", (_Asked, ffi_hpy.Dict)),
        ("FFIString", (_Asked, ffi_hpy.String)),
        ("LastingObject", (_Lasting, ffi_hpy.List)),
    ):
        try:
            classes.append(type(f"Hostile{name}", bases, {}))
        except TypeError:
            pass  # interpreters may refuse it: metaclasses and layouts differ
    return classes


CLASSES = _made()
MIXINS = (_Asked, _Sequenced, _Attributed)


def instance(world: Any) -> Any:
    """Return a hostile object."""
    cls = world.pick(CLASSES)
    if cls.__mro__[-2] is type:
        return cls("Made", (), {})
    try:
        return cls()
    except Exception:
        return object.__new__(_Plain)


class _Plain(_Asked):
    pass


def callback(*args: Any) -> Any:
    """A callback that does mischief."""
    return answer("any")


def plain_callback(*args: Any) -> Any:
    """A callback that returns its first argument, after some mischief."""
    mischief()
    return args[0] if args else None


def two_arguments(value: Any, steering: Any) -> Any:
    """A callback with the signature of the structural functions."""
    mischief()
    world = here()
    if world.mischiefs_left <= 0 or world.one_in(3):
        return None if world.one_in(2) else value
    name = world.pick(("visit", "default_visit", "mutate", "default_mutate"))
    method = getattr(steering, name, None)
    return method(value) if method is not None else value


Values.hostile = staticmethod(instance)
Values.callbacks = (callback, plain_callback, two_arguments, lambda: mischief(), lambda x: x, lambda x, y: y)
