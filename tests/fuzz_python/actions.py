"""Actions on the surface: calls as intended, and everything else that Python allows."""

from __future__ import annotations

import copy
import copyreg
import gc
import operator
import pickle
import sys
import weakref

import bound
import hostile
import typed
from hostile import change, mischief
from values import FFI_CLASSES, Values
from world import DEEPEST_CALL, IS_PYPY_8, shown

import ffi_hpy
from ffi_hpy import structural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from surface import Target
    from world import World

_OPERATORS = (
    *(operator.add, operator.mul, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
    *(operator.getitem, operator.contains, operator.sub, operator.and_, operator.or_, operator.mod, operator.matmul),
    *(operator.iadd, operator.imul, operator.delitem, operator.concat, operator.countOf, operator.truediv),
)
_QUESTIONS = (
    *(repr, str, hash, len, iter, list, tuple, bool, int, float, bytes, reversed, sorted, set, dict, dir, callable),
    *(operator.index, format, copy.copy, copy.deepcopy, ffi_hpy.convert, memoryview, min, sum, any, enumerate),
    *(() if IS_PYPY_8 else (vars,)),  # interpreter_faults.py: descriptor_of_class
)
_LAYOUTS = (object, int, str, float, bytes, tuple, list, dict, type, Exception, BaseException, complex, set)


HAS_PYPY_CONTEXT = sys.implementation.name == "pypy" and not ffi_hpy._core.HAS_EXTENSION


def _refuse_to_reduce(iterator: Any) -> Any:
    raise TypeError(f"cannot pickle a {type(iterator).__name__}")


if sys.implementation.name == "pypy":
    # interpreter_faults.py: exhausted_dict_iterator, copy_enumerate, pickle_dict_iterator
    copyreg.pickle(enumerate, _refuse_to_reduce)
    for _view in ({}, {}.values(), {}.items()):
        copyreg.pickle(type(iter(_view)), _refuse_to_reduce)
        copyreg.pickle(type(reversed(_view)), _refuse_to_reduce)


def is_ours(value: Any) -> bool:
    """Return whether a value's class derives from a class of the package or of the bound library. Other classes are not
    tested."""
    return any(cls.__module__.startswith(("ffi_hpy", bound.NAME)) for cls in type(value).__mro__)


def is_numpys(value: Any) -> bool:
    """Return whether a value is an array or a scalar of NumPy."""
    return type(value).__module__ == "numpy"


class Actions:
    """Runs random actions on the targets."""

    def __init__(self, world: World, targets: list[Target]) -> None:
        self.world = world
        self.values = Values(world)
        self.targets = targets
        self.bound = [target for target in targets if target.name.startswith(bound.NAME)]
        world.dangerous = self.nested
        self._all = (
            *(self.call,) * 60,
            *(self.call_through_class,) * 14,
            *(self.call_bound,) * 40,
            *(self.attribute,) * 8,
            *(self.descriptor,) * 5,
            *(self.operate,) * 14,
            *(self.ask,) * 14,
            *(self.iterate_while_changing,) * 5,
            *(self.sort_while_changing,) * 2,
            *(self.walk_while_changing,) * 6,
            *(self.make_without_init,) * 5,
            *(self.assign_class,) * 3,
            *(self.initialise_again,) * 4,
            *(self.pickle,) * 3,
            *(self.derive,) * 1,
            *(self.change_overrides,) * 3,
            *(self.refer,) * 4,
            *(self.change_pool,) * 6,
            *(self.move,) * 2,
        )

    def anything(self) -> Any:
        """Run one action and return its result. Raises the action's exceptions."""
        world = self.world
        if world.one_in(10000):
            return self.recurse()
        return world.pick(self._all)()

    def nested(self) -> None:
        """Run an action inside another one."""
        world = self.world
        if world.depth < DEEPEST_CALL:
            world.depth += 1
            try:
                self.anything()
            finally:
                world.depth -= 1

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self) -> Any:
        target = self.world.pick(self.targets)
        if target.owner is None:
            return self.invoke(target.name, target.callable, self.arguments(target.hints))
        instance = self.instance_of(target.owner)
        if not is_ours(instance):  # its attribute of that name is another one
            return self.invoke(f"class {target.name}", target.callable, [instance, *self.arguments(target.hints[1:])])
        self.note(f"{target.name} of", instance)
        bound = getattr(instance, target.member)
        return self.invoke(target.name, bound, self.arguments(target.hints[1:])) if callable(bound) else bound

    def call_through_class(self) -> Any:
        """Call Type.method(self, ...), where self is often not an instance of Type."""
        target = self.world.pick(self.targets)
        if target.owner is None or not callable(target.callable):
            return self.ask()
        receiver = self.instance_of(target.owner) if self.world.one_in(3) else self.values.any()
        return self.invoke(f"class {target.name}", target.callable, [receiver, *self.arguments(target.hints[1:])])

    def call_bound(self) -> Any:
        """Call a function, method or class of the bound library with arguments that mostly all fit."""
        world, values = self.world, self.values
        target = world.pick(self.bound)
        arguments = [values.of_kind(kinds[0]) for kinds in target.hints]
        if target.owner is not None and arguments:
            is_new = target.member == "__init__" and world.one_in(2)
            arguments[0] = target.owner.__new__(target.owner) if is_new else self.instance_of(target.owner)
        if arguments and world.one_in(8):
            arguments[world.below(len(arguments))] = values.any()
        if arguments and world.one_in(12):
            arguments.pop()
        if not callable(target.callable):
            return self.attribute()
        self.note(target.name, *arguments)
        return target.callable(*arguments)

    def invoke(self, name: str, function: Any, arguments: list[Any]) -> Any:
        world = self.world
        if HAS_PYPY_CONTEXT and not arguments and name.endswith(".__new__"):
            return None  # PyPy's wrapper of a tp_new reads the first argument without checking that there is one
        if world.one_in(12):
            keywords = {world.pick(("name", "value", "x", "key", "index", "override", "order")): self.values.any()}
            self.note(name, *arguments, keywords)
            return function(*arguments, **keywords)
        self.note(name, *arguments)
        return function(*arguments)

    def arguments(self, hints: tuple[tuple[str, ...], ...]) -> list[Any]:
        """Return arguments, mostly in the expected number and of the expected types."""
        world = self.world
        n = len(hints) if hints and not world.one_in(4) else world.below(4)
        made = []
        for i in range(n):
            kinds = hints[i] if i < len(hints) else ()
            fits = kinds and not world.one_in(4)
            made.append(self.values.of_kind(world.pick(kinds)) if fits else self.values.any())
        return made

    def instance_of(self, cls: type) -> Any:
        """Return an instance of the class if it is easy to make."""
        if self.world.one_in(25):
            return self.values.any()
        is_bound = cls.__module__ == bound.NAME
        made = self.values.of_kind(f"{bound.NAME}.{cls.__qualname__}" if is_bound else cls.__name__)
        if cls in type(made).__mro__:
            return made
        for _ in range(8):
            value = self.values.pooled()
            if cls in type(value).__mro__:
                return value
        return made

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self) -> Any:
        """Read, set or delete an attribute of a value."""
        world, values = self.world, self.values
        target = world.pick(self.targets)
        if target.owner is None:
            instance, name = values.any(), values.text()
        else:
            instance, name = self.instance_of(target.owner), target.member
        if not is_ours(instance):
            return None
        how = world.below(4)
        if how == 0 and not isinstance(instance, type) and name != "__class__":
            value = values.any()
            self.note(f"setattr {name!a}", instance, value)
            return setattr(instance, name, value)
        if how == 1 and not isinstance(instance, type):
            self.note(f"delattr {name!a}", instance)
            return delattr(instance, name)
        self.note(f"getattr {name!a}", instance)
        return getattr(instance, name)

    def descriptor(self) -> Any:
        """Use an entry of a class's dict as the interpreter would, with any arguments."""
        world, values = self.world, self.values
        target = world.pick(self.targets)
        if target.owner is None:
            return self.operate()
        found = next((c.__dict__[target.member] for c in target.owner.__mro__ if target.member in c.__dict__), None)
        name = world.pick(("__get__", "__set__", "__delete__", "__call__", "__repr__", "__set_name__"))
        slot = getattr(found, name, None)
        if slot is None:
            return None
        arguments = [self.instance_of(target.owner) if world.one_in(3) else values.any()]
        arguments += [values.any() for _ in range(world.below(3))]
        return self.invoke(f"{target.name}.{name}", slot, arguments)

    # --- operators and builtins ---------------------------------------------------------------------------------------

    def operate(self) -> Any:
        function = self.world.pick(_OPERATORS)
        left, right = self.values.native(), self.values.any()
        two = (left, right)
        if not any(map(is_ours, two)):
            return None  # not ours: 'x' * 2**60 only uses up memory, see also deque_repeated in interpreter_faults.py
        if any(map(is_numpys, two)) and any(type(value) in hostile.CLASSES for value in two):
            return None  # not ours; NumPy 2.0 crashes (half_compared in tests/python/interpreter_faults.py)
        self.note(function.__name__, left, right)
        return function(left, right)

    def ask(self) -> Any:
        function = self.world.pick(_QUESTIONS)
        value = self.values.native()
        if type(value) is int and function is not operator.index:
            return None  # bytes(2**60) only uses up memory
        self.note(function.__name__, value)
        made = function(value)
        return list(made) if function is reversed else made

    # --- containers that change during a walk -------------------------------------------------------------------------

    def container(self) -> Any:
        world = self.world
        kind = world.pick(("ffi_list", "ffi_dict", "ffi_array", "ffi_map", "list", "dict", "pooled"))
        made = getattr(self.values, kind)(0)
        world.pool[world.below(len(world.pool))] = made
        return made

    def iterate_while_changing(self) -> Any:
        world = self.world
        victim = self.container()
        how = world.pick((iter, reversed, lambda x: iter(x.items()), lambda x: iter(x.values()), enumerate))
        self.note("iterate while changing", victim)
        iterator = how(victim)
        for _ in range(world.below(30)):
            if next(iterator, self) is self:
                break
            change(victim)
        return iterator

    def sort_while_changing(self) -> Any:
        victim = self.container()
        self.note("sort while changing", victim)

        def key(value: Any) -> Any:
            change(victim)
            mischief()
            return id(value) & 7

        return sorted(victim, key=key)

    def walk_while_changing(self) -> Any:
        """Call the functions that call back for each value inside another one."""
        world = self.world
        victim = self.values.object() if world.one_in(3) else self.container()
        callback = self.values.callback()

        def changing(value: Any, *more: Any) -> Any:
            world.note_question()
            change(victim)
            return callback(value, *more)

        pairs = [(world.pick(FFI_CLASSES), changing)] if world.one_in(3) else changing
        order = world.pick(("pre", "post"))
        how = world.below(4)
        self.note(f"walk {how} while changing", victim)
        if how == 0:
            return structural.structural_walk(victim, pairs, order=order)
        if how == 1:
            return structural.structural_map(victim, pairs, order=order)
        two = hostile.two_arguments if world.one_in(2) else (lambda value, steering: changing(value, steering))
        function = structural.structural_visit if how == 2 else structural.structural_mutate
        return function(victim, two)

    def change_pool(self) -> Any:
        victim = self.world.pick(self.world.pool)
        self.note("change", victim)
        change(victim)
        return victim

    # --- making and unmaking ------------------------------------------------------------------------------------------

    def cls(self) -> Any:
        world = self.world
        how = world.below(8)
        return world.pick(bound.ALL_CLASSES if how < 3 else hostile.CLASSES) if how < 5 else self.values.cls()

    def make_without_init(self) -> Any:
        """Call A.__new__(B, ...)."""
        maker, cls = self.cls(), self.cls() if self.world.one_in(2) else None
        cls = maker if cls is None else cls
        arguments = self.arguments(())
        return self.invoke(f"{maker.__name__}.__new__", maker.__new__, [cls, *arguments])

    def assign_class(self) -> Any:
        value, cls = self.values.native(), self.cls()
        if isinstance(value, type):
            return None
        self.note("assign class", value, cls)
        value.__class__ = cls
        return value

    def initialise_again(self) -> Any:
        world = self.world
        value = self.values.native()
        if isinstance(value, type) or not is_ours(value):
            return None
        name = world.pick(("__init__", "__setstate__", "__reduce__", "__getstate__", "__reduce_ex__", "__del__"))
        return self.invoke(name, getattr(value, name), self.arguments(()))

    def pickle(self) -> Any:
        value = self.values.native()
        self.note("pickle", value)
        return pickle.loads(pickle.dumps(value))

    def derive(self) -> Any:
        """Make a class with several bases, and an instance of it."""
        world = self.world
        bases = tuple(
            world.pick((*FFI_CLASSES, *_LAYOUTS, *hostile.CLASSES, *bound.ALL_CLASSES))
            for _ in range(1 + world.below(2))
        )
        self.note("derive", *bases)
        meta = type(bases[0])
        made = meta("Derived", bases, {} if world.one_in(2) else {"__slots__": ("a", "b")})
        self.note("derived", made)
        return made(*self.arguments(()))

    def change_overrides(self) -> Any:
        """Let C++ call virtual functions of an object whose class changes its methods."""
        world = self.world
        base = bound.CLASSES[f"{bound.NAME}.{world.pick(('Animal', 'Dog', 'Puppy'))}"]
        made = type("Changing", (base,), {} if world.one_in(2) else {world.pick(bound.OVERRIDABLE): hostile.callback})
        animal = made()
        for _ in range(world.below(6)):
            name = world.pick(bound.OVERRIDABLE)
            if world.one_in(2):
                setattr(made, name, self.values.any() if world.one_in(4) else self.values.callback())
            elif name in made.__dict__:
                delattr(made, name)
            name = world.pick(bound.OVERRIDABLE)
            use = getattr(bound.MODULE, f"{name}_of")
            self.note(f"{name}_of", animal)
            arguments = [self.values.of_kind(hint) for hint in typed.overloads_of(use)[0][1:]]
            try:
                use(animal, *arguments)
            except Exception:
                continue
        return animal

    def refer(self) -> Any:
        """Make a weak reference with a callback."""
        value = self.values.native()
        self.note("refer", value)
        made = weakref.ref(value, bound.note_end)
        return made() if self.world.one_in(2) else made

    def move(self) -> Any:
        """Move an object's handle away while others use the object."""
        world = self.world
        value = self.values.native()
        self.note("move", value)
        marked = value._move()
        if world.one_in(2):
            return ffi_hpy.get_global_func("testing.echo")(marked)
        return ffi_hpy.convert(hostile.callback)(marked, value)

    def recurse(self) -> Any:
        """Call from Python to native code and back until the interpreter's limit."""
        self.note("recurse")
        world = self.world
        how = world.below(3)

        def again(*args: Any) -> Any:
            return native(*args) if how == 0 else ffi_hpy.convert(again)(*args) if how == 1 else echo(again, 1)

        native, echo = ffi_hpy.convert(again), ffi_hpy.get_global_func("testing.apply")
        try:
            return native(self.values.simple())
        finally:
            gc.collect(0)

    def note(self, what: str, *values: Any) -> None:
        """Record the next action."""
        self.world.journal.write(f"{'  ' * self.world.depth}{what}({', '.join(map(shown, values))})")
