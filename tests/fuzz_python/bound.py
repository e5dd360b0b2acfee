"""Instances of the bound library that the fuzzer calls, and classes of Python that derive from its classes."""

from __future__ import annotations

import copy
import importlib
import sys
import tempfile
import weakref
from pathlib import Path

import hostile
import typed
from hostile import answer, mischief
from library import NAME, library
from values import Values
from world import here, is_tame, tame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from world import World


def _imported() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{NAME}.so").symlink_to(library())
        sys.path.insert(0, folder)
        try:
            return importlib.import_module(NAME)
        finally:
            sys.path.remove(folder)


MODULE = _imported()
CLASSES = {
    f"{NAME}.{cls.__qualname__}": cls
    for cls in (*vars(MODULE).values(), MODULE.Outer.Inner)
    if isinstance(cls, type) and cls.__module__ == NAME
}
_ENUMS = tuple(cls for cls in CLASSES.values() if hasattr(cls, "__members__"))
_MADE = {
    name: tuple(hints[1:] for hints in typed.overloads_of(cls.__init__))
    for name, cls in CLASSES.items()
    if cls not in _ENUMS and not issubclass(cls, BaseException) and typed.overloads_of(cls.__init__)
}
"""The types of the parameters of each constructor."""
_MADE_NAMES = tuple(_MADE)


# --- uses at any time -------------------------------------------------------------------------------------------------

_USES = (
    *(repr, len, copy.copy, weakref.ref, hash, MODULE.name_of, MODULE.share_animal, MODULE.pass_node, MODULE.about),
    *(MODULE.same, MODULE.points, lambda value: value.x, lambda value: value.data, lambda value: value.__init__()),
    *(lambda value: setattr(value, "data", value), lambda value: setattr(value, "x", 1), lambda value: list(value)),
)


def touch(value: Any) -> None:
    """Use an object that may not have begun, or that ends."""
    if is_tame():  # an object that a use below has made ends
        return
    with tame():
        for use in _USES:
            try:
                use(value)
            except Exception:
                continue


def note_end(reference: Any) -> None:
    """The callback of weak references: use the bound library in the midst of anything."""
    with tame():
        hostile.keep([reference(), MODULE.call_callback(1), MODULE.make_node(), MODULE.Dog(1)])


# --- classes of Python ------------------------------------------------------------------------------------------------


class _Starting:
    """Has an `__init__` that calls the one of the bound class too early, too late, twice, or not at all."""

    def __init__(self, *args: Any) -> None:
        how = here().below(8)
        if how == 0:
            return
        if how == 1:
            mischief()
        if how == 2:
            touch(self)
        super().__init__(*args)
        if how == 3:
            super().__init__(*args)
        if how == 4:
            mischief()


class _Overriding:
    """Overrides the virtual functions of Animal, at times by the function of the bound class."""

    def name(self) -> Any:
        return super().name() if here().one_in(3) else answer("str")  # type: ignore[misc]

    def view(self) -> Any:
        return super().view() if here().one_in(3) else answer("str")  # type: ignore[misc]

    def sound(self, times: Any = 1) -> Any:
        return super().sound(times) if here().one_in(3) else answer("int")  # type: ignore[misc]

    def numbers(self, given: Any) -> Any:
        return super().numbers(given) if here().one_in(3) else answer("list[int]")  # type: ignore[misc]

    def any(self, value: Any) -> Any:
        return super().any(value) if here().one_in(3) else answer("any")  # type: ignore[misc]

    def point(self, value: Any) -> Any:
        return super().point(value) if here().one_in(3) else answer(f"{NAME}.Point")  # type: ignore[misc]

    def hear(self, function: Any) -> Any:
        mischief()
        return super().hear(function) if here().one_in(3) else function(answer("int"))  # type: ignore[misc]


class _Ending:
    """Uses itself while it ends, at times for the second time."""

    def __del__(self) -> None:
        touch(self)
        hostile.keep(self)


def _subclasses() -> dict[str, list[type]]:
    """Return classes of Python for each bound class that allows them."""
    made: dict[str, list[type]] = {}
    asked, sequenced, attributed = hostile.MIXINS
    for name, base in CLASSES.items():
        if name not in _MADE:
            continue
        mixins: list[tuple[type, ...]] = [(), (_Starting,), (asked,), (attributed,), (_Ending,), (_Starting, _Ending)]
        mixins += [(_Overriding,), (_Overriding, _Starting, _Ending)] if issubclass(base, MODULE.Animal) else []
        mixins += [(asked, sequenced)] if hasattr(base, "__len__") else []
        for number, above in enumerate(mixins):
            try:
                made.setdefault(name, []).append(type(f"Hostile{base.__name__}{number}", (*above, base), {}))
            except TypeError:
                break  # it is final
    return made


_SUBCLASSES = _subclasses()
ALL_CLASSES = (*CLASSES.values(), *(cls for classes in _SUBCLASSES.values() for cls in classes))
OVERRIDABLE = ("name", "view", "sound", "numbers", "any", "point", "hear")


# --- values -----------------------------------------------------------------------------------------------------------


def instance(world: World, name: str, depth: int = 0) -> Any:
    """Return an instance of the bound class with that full name, or of a class of Python that derives from it."""
    values, cls = Values(world), CLASSES[name]
    if cls in _ENUMS:
        return world.pick(list(cls))
    if name not in _MADE or depth > 2:
        found = [value for value in world.pool if cls in type(value).__mro__]
        return world.pick(found) if found else None
    if world.one_in(4) and name in _SUBCLASSES:
        cls = world.pick(_SUBCLASSES[name])
    if world.one_in(40):
        return cls.__new__(cls)
    arguments = [typed.value_of(values, hint, depth + 1) for hint in world.pick(_MADE[name])]
    try:
        return cls(*arguments)
    except Exception:
        return None


def of_any_class(values: Values, depth: int = 0) -> Any:
    """Return an instance of any bound class."""
    world = values.world
    return instance(world, world.pick(_MADE_NAMES), depth)


Values.bound = of_any_class  # type: ignore[method-assign]
typed.INSTANCES.update({name: lambda values, depth, name=name: instance(values.world, name, depth) for name in CLASSES})
