"""Initializer: creates the native object of a new instance and sets its fields.

The parameters are read from the registry when the class is created. A call creates an empty object, writes each
argument into its field, and then sets the fields without an argument to their defaults. At the end the instance gets
the object. The binding handles calls with wrong arguments and raises the error.
"""

from __future__ import annotations

from ..._start.match import make_match
from ..classes.cobject import put_handle
from ..context.backend import CREATOR, SAFE_CALL, cast, core, new_words, words_at
from ..context.binding import binding
from ..context.bridge import convert
from ..context.hidden import hidden
from ..context.numbers import FUNCTION, OBJECT
from ..context.texts import check_new, final, messages
from ..context.type_table import attribute_at, facts_of, field_info
from ..object.call_buffers import give, take
from ..object.errors import raise_pending
from ..object.objects import derives, is_wrapper
from .fields import field_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from ..context.type_table import FieldFacts, TypeFacts
    from .fields import LaidOutField, LibraryField

__all__ = ["Initializer"]

_NO_KEYWORDS: dict[str, Any] = {}


class _Slot:
    """A field, with the data that the constructor needs."""

    __slots__ = (
        "_about_argument",
        "_about_default",
        "_default",
        "field",
        "has_default",
        "is_keyword",
        "name",
        "takes_argument",
    )

    def __init__(self, field: LaidOutField | LibraryField, info: FieldFacts, callee: str) -> None:
        self.field = field
        self.name = info.name
        self.has_default = info.flags & binding.FIELD_HAS_DEFAULT != 0
        self.takes_argument = info.flags & binding.FIELD_INIT_OFF == 0
        self.is_keyword = info.flags & binding.FIELD_KW_ONLY != 0
        self._about_argument = f"{callee}() field"
        self._about_default = f"{callee}() default for field"
        self._default = _default_of(field, info) if self.has_default else _nothing

    @hidden
    def give(self, address: int, value: Any) -> None:
        """Set the field of an object to an argument."""
        self.field.fill(address, value, self._about_argument)

    @hidden
    def give_default(self, address: int) -> None:
        """Set the field of an object to its default."""
        self._default(self.field, address, self._about_default)


def _default_of(field: LaidOutField | LibraryField, info: FieldFacts) -> Any:
    is_factory = info.flags & binding.FIELD_DEFAULT_FROM_FACTORY != 0
    if field.is_laid_out:
        return _from_factory if is_factory else _from_value
    return _NativeFactory(info.default_at) if is_factory else _NativeValue(info.default_at)


def _nothing(_field: Any, _address: int, _what: str) -> None:
    """Do nothing: a field without a default that takes no argument stays empty."""


@hidden
def _from_value(field: Any, address: int, what: str) -> None:
    field.fill(address, field.initial, what)


@hidden
def _from_factory(field: Any, address: int, what: str) -> None:
    field.fill(address, field.initial(), what)


class _NativeValue:
    """A default value from the registry."""

    __slots__ = ("_words",)

    def __init__(self, at: int) -> None:
        self._words = words_at(at)

    @hidden
    def __call__(self, field: Any, address: int, what: str) -> None:
        field.fill_native(address, self._words, what)


class _NativeFactory:
    """A default factory from the registry: a native function."""

    __slots__ = ("_at",)

    def __init__(self, at: int) -> None:
        self._at = at

    @hidden
    def __call__(self, field: Any, address: int, what: str) -> None:
        function = words_at(self._at)[1]
        made = new_words(2)
        if cast(SAFE_CALL, words_at(function)[3])(function, made, 0, made) != 0:
            raise_pending(field.name)
        try:
            field.fill_native(address, made, what)
        finally:
            if made[0] & 0xFFFFFFFF >= OBJECT:
                core.decref(made[1])


# --- allocating ---------------------------------------------------------------------------------------------------


class _Allocator:
    """Creates an empty object of a type: by the creator in its metadata (native types), else by its attribute
    __ffi_new__."""

    __slots__ = ("_call", "_callee", "_creator", "_depth", "_function", "_index", "_key")

    def __init__(self, facts: TypeFacts, callee: str) -> None:
        self._index, self._depth, self._key = facts.index, facts.depth, facts.key
        self._callee = callee
        self._creator: Callable[..., int] | None = None
        self._function, self._call = 0, None
        if facts.creator:
            self._creator = cast(CREATOR, facts.creator)
            return
        function = attribute_at(facts.index, "__ffi_new__")
        if function is not None and function[0] & 0xFFFFFFFF == FUNCTION:  # attributes are never removed
            self._function = function[1]
            self._call = cast(SAFE_CALL, words_at(self._function)[3])

    @hidden
    def allocate(self) -> int:
        """Return a new object, owned."""
        frame = take()
        try:
            result = frame.result
            result[0] = result[1] = 0
            if self._creator is not None:
                status = self._creator(result + 1)
                made: int = result[1]
            else:
                status = self._call(self._function, frame.words, 0, result)  # type: ignore[misc]
                index = result[0] & 0xFFFFFFFF
                made = result[1] if index >= OBJECT else 0
                if status == 0 and made and index != self._index and not derives(index, self._index, self._depth):
                    core.decref(made)
                    made = 0
        finally:
            give(frame)
        if status != 0:
            raise_pending(self._callee)
        if not made:
            raise TypeError(messages.NOTHING_MADE % (len(self._key), self._key))
        return made


# --- the class ----------------------------------------------------------------------------------------------------


@final
class Initializer:
    """Creates the native object of a new instance and sets its fields."""

    __slots__ = (
        "_allocate",
        "_binding",
        "_callee",
        "_match",
        "_missing",
        "_n_required",
        "_needs_keywords",
        "_positional",
        "_rest",
        "_slots",
    )

    _allocate: Callable[[], int]
    _binding: Any
    _callee: str
    _match: Any  # see make_match(); made at first use
    _missing: Any
    _n_required: int
    _needs_keywords: bool
    _positional: tuple[_Slot, ...]
    _rest: list[tuple[_Slot, ...] | None]
    _slots: tuple[_Slot, ...]

    def __new__(cls, *args: Any, **_kwargs: Any) -> Initializer:
        check_new(cls, Initializer, "Initializer")
        initializer = binding.Initializer(*args)  # it raises the error for wrong arguments and unsuitable types
        index, missing = args
        self = object.__new__(cls)
        self._binding = initializer
        self._missing = missing
        self._match = None
        facts = facts_of(index)
        self._callee = f"{facts.key}.__ffi_init__"
        self._allocate = _Allocator(facts, self._callee).allocate
        found: dict[str, _Slot] = {}
        for owner in (*facts.ancestors(), facts):
            for which in range(owner.n_fields):
                info = field_info(owner, which)
                found[info.name] = _Slot(field_of(owner, which), info, self._callee)
        self._slots = tuple(found.values())
        taking = [slot for slot in self._slots if slot.takes_argument]
        positional = sorted((slot for slot in taking if not slot.is_keyword), key=lambda slot: slot.has_default)
        self._positional = tuple(positional)
        self._n_required = sum(not slot.has_default for slot in positional)
        self._needs_keywords = any(slot.is_keyword and not slot.has_default for slot in taking)
        # By the number of positional arguments: the slots that get their defaults in a call without other arguments.
        # The first call with that number creates the entry.
        self._rest = [None] * (len(positional) + 1)
        return self

    @hidden
    def __call__(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any] = _NO_KEYWORDS) -> bool:
        if not is_wrapper(instance):
            raise TypeError(messages.NOT_AN_INSTANCE % (self._callee, type(instance).__name__))
        if instance._ffi_address:
            return False
        n = len(args)
        if kwargs or self._needs_keywords or n > len(self._positional) or n < self._n_required:
            return self._call_named(instance, args, kwargs)
        missing = self._missing
        if n and (args[0] is missing or (n > 1 and (args[1] is missing or (n > 2 and _has(args, missing))))):
            return self._call_named(instance, args, kwargs)
        return self._make_positional(instance, args)

    @hidden
    def _make_positional(self, instance: Any, args: tuple[Any, ...]) -> bool:
        n = len(args)
        rest = self._rest[n]
        if rest is None:
            rest = self._rest[n] = self._slots_without(frozenset(self._positional[:n]))
        return self._make(instance, self._positional, args, n, rest)

    def _match_names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return the arguments by position, with missing markers in the middle; None if they are not of that kind."""
        if self._match is None:
            slots = self._positional
            defaults = [self._missing] * len(slots)
            self._match = make_match([slot.name for slot in slots], defaults, [slot.has_default for slot in slots])
        try:
            values: tuple[Any, ...] = self._match(*args, **kwargs)
        except TypeError:
            return None
        return values

    def _slots_without(self, given: Container[_Slot]) -> tuple[_Slot, ...]:
        return tuple([slot for slot in self._slots if slot not in given])

    @hidden
    def _call_named(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Handle a call with keyword arguments, with missing markers as arguments, or with errors."""
        if kwargs and not self._needs_keywords:
            values = self._match_names(args, kwargs)
            if values is not None and not _has(values, self._missing):
                return self._make_positional(instance, values)
        bound = self._bind(args, kwargs)
        if bound is None:
            return self._call_binding(instance, args, kwargs)
        given, values, rest = bound
        return self._make(instance, given, values, len(given), rest)

    @hidden
    def _make(
        self, instance: Any, given: tuple[_Slot, ...], values: tuple[Any, ...], n: int, rest: tuple[_Slot, ...]
    ) -> bool:
        """Create the instance's object: n slots get values, the slots in `rest` their defaults."""
        address = self._allocate()
        try:
            if n:
                _give_each(given, values, n, address)
            _give_defaults(rest, address)
        except BaseException:
            core.decref(address)
            raise
        put_handle(instance, address)
        return True

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the slots that have an argument, their values, and the other slots; None if the arguments are
        wrong."""
        positional = self._positional
        if len(args) > len(positional):
            return None
        missing = self._missing
        by_position = [(slot, value) for slot, value in zip(positional, args) if value is not missing]
        named: dict[_Slot, Any] = dict(by_position)
        n_left = len(kwargs)
        for slot in self._slots:
            if slot.takes_argument and slot not in named and slot.name in kwargs:
                n_left -= 1
                value = kwargs[slot.name]
                if value is not missing:
                    named[slot] = value
        if n_left:
            return None
        rest = self._slots_without(named)
        for slot in rest:
            if slot.takes_argument and not slot.has_default:
                return None
        return tuple(named), tuple(named.values()), rest

    @hidden
    def _call_binding(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        made = binding.CObject.__new__(binding.CObject)
        self._binding(made, args, kwargs)
        put_handle(instance, convert(made._move(), new_words(2)))
        return True


def _has(args: tuple[Any, ...], value: object) -> bool:
    for arg in args:  # noqa: SIM110 - a generator is slower
        if arg is value:
            return True
    return False


# The JIT compiles code without loops into the caller, so the first four are written one by one.


@hidden
def _give_each(slots: tuple[_Slot, ...], values: tuple[Any, ...], n: int, address: int) -> None:
    """Set n slots to their arguments, n > 0."""
    slots[0].give(address, values[0])
    if n == 1:
        return
    slots[1].give(address, values[1])
    if n == 2:
        return
    slots[2].give(address, values[2])
    if n == 3:
        return
    slots[3].give(address, values[3])
    if n == 4:
        return
    _give_more(slots, values, n, address)


@hidden
def _give_more(slots: tuple[_Slot, ...], values: tuple[Any, ...], n: int, address: int) -> None:
    for i in range(4, n):
        slots[i].give(address, values[i])


@hidden
def _give_defaults(slots: tuple[_Slot, ...], address: int) -> None:
    """Set slots to their defaults."""
    n = len(slots)
    if n == 0:
        return
    slots[0].give_default(address)
    if n == 1:
        return
    slots[1].give_default(address)
    if n == 2:
        return
    slots[2].give_default(address)
    if n == 3:
        return
    slots[3].give_default(address)
    if n > 4:
        _give_more_defaults(slots, address)


@hidden
def _give_more_defaults(slots: tuple[_Slot, ...], address: int) -> None:
    for slot in slots[4:]:
        slot.give_default(address)
