"""Reading and writing of reflected fields.

There are two kinds. An inline field (`LaidOutField`) belongs to a type that Python code defined: its memory has a known
form, and its schema converts values. Any other field is read and written by the functions that its library registered.
A getter that only copies the memory is detected at the first read, by its results for test patterns, and is not called
again.
"""

from __future__ import annotations

from ..context.backend import (
    FIELD_COPY,
    FIELD_PUT,
    GETTER,
    address_of,
    buffer_at,
    bytes_at,
    cast,
    core,
    doubles_at,
    new_words,
    words_at,
)
from ..context.binding import binding
from ..context.bridge import convert
from ..context.hidden import hidden
from ..context.numbers import BOOL, FLOAT, INT, INT64_MAX, INT64_MIN, NONE, OBJECT
from ..context.texts import messages, raise_unmade
from ..context.type_table import TypeFacts, facts_of, field_info
from ..convert.arguments import NeedsBinding, put
from ..convert.results import text_of
from ..object.call_buffers import give, take, use
from ..object.errors import drop_pending, interrupts, name_classes, raise_taken, take_object
from ..object.identity import new_pin
from ..object.objects import complete, derives, is_wrapper, settled, type_index_at
from .converters import Mismatch
from .forms import Called, Checked, Copied, Pointer, Replaced, begin_use, plain_form
from .schemas import converter_of, tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..context.type_table import FieldFacts
    from ..object.call_buffers import CallBuffer
    from .converters import Converter

__all__ = ["LaidOutField", "LibraryField", "field_of", "laid_out"]


class _Field:
    """The common part of both kinds: the type, the place, and the names for messages."""

    __slots__ = ("_other", "depth", "form", "name", "offset", "own_name", "schema", "slot", "type_index")

    form: Any  # how to read the field; for a library's field set after the first read
    schema: Any  # converts Python values; None: they are passed to the setter as to any function
    slot: Any  # the binding's FieldSlot, if there is a schema

    def __init__(self, facts: TypeFacts, info: FieldFacts) -> None:
        self.type_index = facts.index
        self.depth = facts.depth
        self.offset = info.offset
        self.own_name = info.name.partition("\0")[0]
        self.name = f"{facts.key}.{info.name}".partition("\0")[0]
        self._other = facts.index  # another type whose objects were seen here

    @hidden
    def place(self, obj: Any) -> int:
        """Return the address of the native object of any value. TypeError if the value has no object of the field's
        type."""
        if not is_wrapper(obj):
            raise TypeError(messages.OTHER_CLASS % (self.own_name, type(obj).__name__))
        try:
            address: int = obj._ffi_address
        except AttributeError:
            raise_unmade(obj)
        if not address:
            complete(obj)
            address = settled(obj)
        index = type_index_at(address)
        if index != self.type_index and index != self._other:
            if not derives(index, self.type_index, self.depth):
                if obj._ffi_address != address:  # another thread has replaced the object, whose memory is in use again
                    return self.place(obj)
                raise TypeError(messages.OTHER_TYPE % (type(obj).__name__, index))
            self._other = index
        return address

    @hidden
    def _convert(self, converter: Converter, frame: CallBuffer, value: Any, what: str | None) -> None:
        """Convert a value by the schema into the first two words of a call buffer, which then own it."""
        why, cls = None, TypeError
        try:
            if converter.convert(frame, value):
                return
        except Mismatch as mismatch:
            why, cls = mismatch.args
        except UnicodeEncodeError:
            pass  # the binding converts it or raises the error
        if why is not None:
            self._refuse(what, why, cls)
        frame.words[0] = frame.words[1] = 0
        self.slot._convert(value, address_of(frame.words), what)

    @hidden
    def _refuse(self, what: str | None, why: str, cls: type[Exception] = TypeError) -> NoReturn:
        """Raise an exception about a value. A constructor begins the message with `what`; None means an assignment."""
        if what is None:
            raise cls(f"{self.name}: {why}")
        lines = why.replace("\n", "\n  ")
        raise cls(f"{what} '{self.own_name}':\n  {lines}")


# --- inline fields ------------------------------------------------------------------------------------------------


class LaidOutField(_Field):
    """A field that Python code defined. `initial` is its default or factory, as a Python object."""

    __slots__ = ("_at", "_put", "initial")

    is_laid_out = True

    def __init__(self, facts: TypeFacts, info: FieldFacts, slot: Any, schema: Any, initial: Any) -> None:
        super().__init__(facts, info)
        self.slot = slot
        self.schema = schema
        self.initial = initial
        self._at, copy_at, put_at, _ = slot._native
        self._put = cast(FIELD_PUT, put_at)
        copied = Copied(cast(FIELD_COPY, copy_at), self._at, self.name)
        form: Any = plain_form(info.static_index, info.size, info.offset)
        if form is None:
            form = Pointer(info.offset, copied) if info.static_index >= OBJECT else copied
        self.form = form if getattr(schema, "check", None) is None else Checked(form)

    @hidden
    def read(self, obj: Any) -> Any:
        """Return the value of the field of an object."""
        try:
            return self.form.read(obj, self.place(obj))
        except Replaced:
            return self.read(obj)

    @hidden
    def write(self, obj: Any, value: Any) -> None:
        """Set the field of an object."""
        address = self.place(obj)
        frame = take()
        try:
            use(frame, obj)
            if obj._ffi_address == address:
                if not self.form.write(address, value):
                    self._replace(address, value, None)
                return
        finally:
            give(frame)
        self.write(obj, value)

    @hidden
    def fill(self, address: int, value: Any, what: str) -> None:
        """Set the field of an object during its construction."""
        if not self.form.write(address, value):
            self._replace(address, value, what)

    @hidden
    def _replace(self, address: int, value: Any, what: str | None) -> None:
        put_at, field_at, converter = self._put, self._at, converter_of(self.schema)
        frame = take()
        try:
            self._convert(converter, frame, value, what)
            words = frame.words
            put_at(field_at, address, words)
            if words[0] & 0xFFFFFFFF >= OBJECT:  # the previous value
                core.decref(words[1])
        finally:
            give(frame)


# --- fields of a library ------------------------------------------------------------------------------------------

_PATTERNS = (b"\x11\x32\x53\x74\x15\x36\x57\x38", b"\xf1\xe2\xd3\xc4\xb5\xa6\x97\xc8", b"\x01" + bytes(7), bytes(8))
"""Test patterns for numbers. The second is negative, and all differ."""

_spare: list[Any] = []
"""Pins, whose first two words pass an int to a setter. append and pop are atomic."""


class LibraryField(_Field):
    """A field with the functions of its library. A schema, if there is one, converts values for the setter. The binding
    calls the functions (its record/field.c) where other threads may read the field."""

    __slots__ = ("_at", "_copy", "_getter", "_info", "_is_function", "_set_native", "_setter", "_word_setter")

    is_laid_out = False

    def __init__(self, facts: TypeFacts, info: FieldFacts, slot: Any, schema: Any) -> None:
        super().__init__(facts, info)
        self.slot = slot
        self.schema = schema
        self._info = info
        self._getter = cast(GETTER, info.getter)
        self._at, copy_at, _, set_at = slot._native
        self._copy = cast(FIELD_COPY, copy_at)
        self._set_native = cast(FIELD_COPY, set_at)
        self._setter = info.setter
        self._is_function = info.flags & binding.FIELD_SETTER_IS_FUNCTION != 0
        is_word = info.static_index in (INT, FLOAT, BOOL)  # stored in one step
        self._word_setter = cast(GETTER, info.setter) if is_word and info.setter and not self._is_function else None

    @hidden
    def read(self, obj: Any) -> Any:
        """Return the value of the field of an object."""
        try:
            address = self.place(obj)
            try:
                form = self.form
            except AttributeError:
                frame = take()
                try:
                    begin_use(frame, obj, address)
                    form = self._learn(address)
                finally:
                    give(frame)
            return form.read(obj, address)
        except Replaced:
            return self.read(obj)

    def _learn(self, address: int) -> Any:
        """Return the form for the object at an address, and store it for all objects if it is certain."""
        info = self._info
        is_property = info.static_index < 0 and info.size == 1  # see src/core/bind/instance.c
        gotten = (Called if is_property else Copied)(self._copy, self._at, self.name)
        form: Any = plain_form(info.static_index, info.size, self.offset)
        if form is not None:
            form = form if self._is_plain(form, address) else gotten
        elif info.static_index >= OBJECT and info.size == 8:
            form = self._pointer(gotten, address)
            if form is None:
                return gotten
        else:
            form = gotten
        self.form = form
        return form

    def _is_plain(self, form: Any, address: int) -> bool:
        """Whether the getter returns the content of the memory: for this object, and for copies of it with other
        numbers. A getter that uses the number differently, for example as a pointer, must not see the copies."""
        info = self._info
        result = new_words(2)
        if not self._gives(form, address, result):
            return False
        first = min(0, self.offset)  # a field may be before the header
        end = max(facts_of(type_index_at(address)).total_size, self.offset + info.size)
        n, n_before = end - first, -(first // 8) * 8  # whole words, so that the copy is aligned like the object
        copy = new_words((n_before + end) // 8 + 1)
        at = address_of(copy) + n_before
        buffer_at(at + first, n)[0:n] = bytes_at(address + first, n)
        memory = buffer_at(at + self.offset, info.size)
        for pattern in _PATTERNS if info.static_index != BOOL else _PATTERNS[2:]:
            memory[0 : info.size] = pattern[: info.size]
            if not self._gives(form, at, result):
                return False
        return True

    def _gives(self, form: Any, address: int, result: Any) -> bool:
        """Whether the getter returns the same value as a form for the object at an address."""
        result[0] = result[1] = 0
        if self._getter(address + self.offset, result) != 0:
            drop_pending()
            return False
        if result[0] & 0xFFFFFFFF != self._info.static_index:
            if result[0] & 0xFFFFFFFF >= OBJECT:
                core.decref(result[1])
            return False
        seen: bool = _plain_words(form.read(None, address)) == result[1]
        return seen

    def _pointer(self, gotten: Copied, address: int) -> Any:
        """Return the form of a pointer to an object, from the getter's result for this object; None if that is NULL."""
        result = new_words(2)
        held = words_at(address + self.offset)[0]
        if self._copy(self._at, address, result) != 0:
            drop_pending()
            return gotten
        index, given = result[0] & 0xFFFFFFFF, result[1]
        if index < OBJECT:
            return None if index == NONE and not held else gotten
        core.decref(given)
        return Pointer(self.offset, gotten) if given == held else gotten

    # --- writing --------------------------------------------------------------------------------------------------

    @hidden
    def write(self, obj: Any, value: Any) -> None:
        """Set the field of an object."""
        setter, offset = self._word_setter, self.offset
        address = self.place(obj)
        if not self._setter:
            raise AttributeError(messages.NOT_SET % self.name)
        is_plain = type(value) is int and INT64_MIN <= value <= INT64_MAX
        if setter is None or self.schema is not None or not is_plain:
            try:
                self._set(obj, address, value, None)
            except Replaced:
                self.write(obj, value)
            return
        try:  # an int needs no other part of a call buffer
            words = _spare.pop()
        except IndexError:
            words = new_pin()
            words[0] = INT
        try:
            words[1] = value
            words[2] = address
            is_there = obj._ffi_address == address
            if is_there and setter(address + offset, words) != 0:
                self._fail(None, None)
        finally:
            words[2] = 0
            _spare.append(words)
        if not is_there:  # Replaced
            self.write(obj, value)

    @hidden
    def _put(self, frame: CallBuffer, value: Any) -> None:
        try:
            put(frame, 2, value, self.name)
        except NeedsBinding:
            _hold(frame, convert(value, frame.words + 2))

    @hidden
    def fill(self, address: int, value: Any, what: str) -> None:
        """Set the field of an object during its construction."""
        self._set(None, address, value, what)

    @hidden
    def fill_native(self, address: int, words: Any, what: str) -> None:
        """Like fill(), with a native value."""
        frame = take()
        try:
            frame.words[2] = words[0]
            frame.words[3] = words[1]
            if self._set_native(self._at, address, frame.words + 2) != 0:
                self._fail(frame, what)
        finally:
            give(frame)

    @hidden
    def _set(self, obj: Any, address: int, value: Any, what: str | None) -> None:
        frame = take()
        try:
            if obj is not None:
                begin_use(frame, obj, address)
            if self.schema is None:
                self._put(frame, value)
            else:
                self._convert(converter_of(self.schema), frame, value, what)
                words = frame.words
                words[2] = words[0]
                words[3] = words[1]
                _hold(frame, words[1] if words[0] & 0xFFFFFFFF >= OBJECT else 0)
            if self._set_native(self._at, address, frame.words + 2) != 0:
                self._fail(frame, what, value)
        finally:
            give(frame)

    @hidden
    def _fail(self, frame: CallBuffer | None, what: str | None, value: Any = None) -> NoReturn:
        """Raise the error of a setter. A mismatch becomes part of a message about the field. In a constructor every
        failure counts as a mismatch; elsewhere only a TypeError of a C setter does, and its OverflowError for a number
        outside the range of the field. The error of a setter that is a Function is raised unchanged, except that it
        names the class of the value in Python."""
        if not self._setter:
            self._refuse(what, f"Field `{self.own_name}` cannot be written")
        error = take_object()
        if frame is not None and frame.held:
            frame.release()
        if error and frame is not None:  # of a property, the value is the second argument of a function
            error = name_classes(error, frame.words, (None, value))
        if error:
            cell = words_at(error)
            kind = bytes_at(cell[3], cell[4])
            is_outside = not self._is_function and kind == b"OverflowError"
            is_mismatch = what is not None or is_outside or (not self._is_function and kind == b"TypeError")
            if is_mismatch and not interrupts(error):
                why = text_of(bytes_at(cell[5], cell[6]))
                core.decref(error)
                self._refuse(what, why, OverflowError if is_outside else TypeError)
        raise_taken(0, error, self.name)


def _hold(frame: CallBuffer, address: int) -> None:
    if address:
        frame.held.append(address)


def _plain_words(value: Any) -> int:
    """Return a number as the payload of an Any."""
    if type(value) is float:
        words = new_words(1)
        doubles_at(words)[0] = value
        bits: int = words[0]
        return bits
    return int(value)


# --- look-up ------------------------------------------------------------------------------------------------------

laid_out: dict[tuple[int, int], LaidOutField] = {}
"""The fields that Python code defined, by type index and number."""


def field_of(facts: TypeFacts, which: int, schema: Any = None) -> LaidOutField | LibraryField:
    """Return the `which`th own field of a type: one that Python code defined, or one with the functions of its
    library."""
    found = laid_out.get((facts.index, which))
    if found is not None:
        return found
    slot = binding.FieldSlot(facts.index, which, False, None if schema is None else tree_of(schema))
    return LibraryField(facts, field_info(facts, which), slot, schema)
