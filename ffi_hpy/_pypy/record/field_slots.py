"""FieldSlot: reflected fields as attributes of Python classes."""

from __future__ import annotations

from ..context.backend import core, words_at
from ..context.binding import binding
from ..context.hidden import hidden
from ..context.texts import check_new, messages, raise_unmade
from ..context.type_table import TypeFacts, facts_of
from ..object.errors import drop_pending
from .fields import field_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .fields import LaidOutField, LibraryField

__all__ = ["FieldSlot"]


def _facts_of_field(index: Any, which: Any) -> TypeFacts:
    """Return the facts of the type of a field. The binding raises the errors for wrong arguments."""
    if type(index) is int and type(which) is int and 0 <= index < 1 << 31:
        address = core.type_info(index)
        if address:
            facts = TypeFacts(words_at(address))
            if 0 <= which < facts.n_fields:
                return facts
        else:
            drop_pending()
    binding.FieldSlot(index, which, False)
    return facts_of(index)


class FieldSlot:
    """A reflected field, a data descriptor."""

    __slots__ = ("_field", "_frozen")

    _field: LaidOutField | LibraryField
    _frozen: bool

    def __new__(cls, *args: Any, **_kwargs: Any) -> Any:
        check_new(cls, FieldSlot, "FieldSlot")
        if len(args) < 3:
            binding.FieldSlot(*args)  # it raises the error
        index, which, frozen = args[:3]
        self = object.__new__(cls)
        self._frozen = bool(frozen)
        self._field = field_of(_facts_of_field(index, which), which, args[3] if len(args) > 3 else None)
        return self

    @hidden
    def get(self, obj: Any, /) -> Any:
        """The value of the field of an object."""
        return _field(self).read(obj)

    @hidden
    def set(self, obj: Any, value: Any, /) -> None:
        """Set the field of an object, even a frozen one."""
        _field(self).write(obj, value)

    @property
    def frozen(self) -> bool:
        """Whether assignment is refused."""
        _field(self)
        return self._frozen

    @hidden
    def __get__(self, obj: Any, cls: Any = None) -> Any:
        if obj is None:
            return self
        return _field(self).read(obj)

    @hidden
    def __set__(self, obj: Any, value: Any) -> None:
        field = _field(self)
        if self._frozen:
            raise AttributeError(messages.FROZEN % (field.name, field.own_name))
        field.write(obj, value)

    @hidden
    def __delete__(self, obj: Any) -> None:
        field = _field(self)
        if self._frozen:
            raise AttributeError(messages.FROZEN % (field.name, field.own_name))
        raise AttributeError(messages.NOT_DELETED % field.name)


@hidden
def _field(slot: FieldSlot) -> Any:
    try:
        return slot._field
    except AttributeError:
        raise_unmade(slot)
