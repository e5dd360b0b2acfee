"""CObject: the operations of every wrapper, whatever its object's type."""

from __future__ import annotations

from ..context import hooks
from ..context.backend import WORDS, cast, core, n_owners
from ..context.binding import binding
from ..context.hidden import hidden
from ..context.numbers import FUNCTION, OBJECT
from ..context.texts import bind, check_new, final, messages
from ..object.call_buffers import read_object, refuse_in_use
from ..object.identity import LISTED, UNLISTED, changing, move, replace, share
from ..object.objects import (
    ONLY_REFERENCE,
    Wrapper,
    address_in,
    check_wrapper,
    class_at,
    fits,
    is_shared,
    is_wrapper,
    let_be_found,
    raise_no_handle,
    record,
    type_index_at,
    type_index_in,
)
from . import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CObject", "ObjectRValueRef", "check_function", "put_handle"]


def _is_listable(wrapper: Any, address: int) -> bool:
    """Whether a wrapper may be registered for an object."""
    return fits(type(wrapper), type_index_at(address))


def _let_list(wrapper: Any) -> None:
    """Register a wrapper that has just got an object, if its class fits and the object has other owners, which may pass
    the object to Python at any time. Another thread that moves the object away waits, as it does for the move
    before."""
    with changing:
        address = wrapper._ffi_address
        if address and _is_listable(wrapper, address):
            wrapper._ffi_listing = UNLISTED
            if is_shared(address):
                share(wrapper)
            elif wrapper._ffi_is_findable:
                let_be_found(wrapper, address)


def check_function(address: int) -> None:
    """TypeError if an object that a Function is to own is not a function."""
    if type_index_at(address) != FUNCTION:
        raise TypeError(messages.FUNCTIONS_ONLY)


def put_handle(wrapper: Any, address: int) -> None:
    """Replace a wrapper's handle with the given one, which is stolen. RuntimeError if a call uses the old handle."""
    try:
        # The wrapper's class may have been replaced by a class registered later, or belong to another type.
        header = cast(WORDS, address)
        is_exact = class_at(header[1] & 0xFFFFFFFF) is type(wrapper)
        is_listable = is_exact or _is_listable(wrapper, address)
        has_others = header[0] != ONLY_REFERENCE
        # The common case: the wrapper is new and unused.
        if not (wrapper._ffi_address or wrapper._ffi_is_function or has_others) and wrapper._ffi_uses is None:
            if not is_listable:
                wrapper._ffi_listing = LISTED
            wrapper._ffi_address = address
            if is_listable and wrapper._ffi_is_findable:
                let_be_found(wrapper, address)
            if hooks.object_made is not None:
                record(wrapper)
            if not is_exact and hooks.subclass_made is not None:
                hooks.subclass_made(wrapper)
            return
        if wrapper._ffi_is_function:
            check_function(address)
        old = replace(wrapper, address, is_listable)
        if old == -1:
            refuse_in_use()
    except BaseException:
        if wrapper._ffi_address != address:
            core.decref(address)
        raise
    if is_listable and has_others:
        share(wrapper)  # other owners may pass the object to Python at any time
    elif is_listable and wrapper._ffi_is_findable:
        let_be_found(wrapper, address)
    if hooks.object_made is not None:
        record(wrapper)
    if old:
        core.decref(old)
    if not is_exact and hooks.subclass_made is not None:
        hooks.subclass_made(wrapper)


def _blank() -> Any:
    """Return an empty wrapper of the binding, whose methods raise the errors for wrong arguments."""
    return binding.CObject.__new__(binding.CObject)


class CObject(Wrapper):
    """Base of all classes whose instances own a handle of a native object."""

    __slots__ = ()

    def __chandle__(self) -> int:
        """Address of the native object, 0 if there is none."""
        check_wrapper(self)
        address = address_in(self)
        if address and self._ffi_listing != LISTED:
            share(self)  # this wrapper must be found for the pointer later
        return address

    def __eq__(self, other: object, /) -> bool:
        if is_wrapper(other):
            return address_in(self) == address_in(other)
        return NotImplemented

    def __hash__(self) -> int:
        return address_in(self) >> 4

    def __type_index__(self) -> int:
        """Type index of the native object."""
        index: int = read_object(self, OBJECT, 0, type_index_in)
        return index

    def __use_count__(self) -> int:
        """Strong references to the native object, 0 if there is none."""
        check_wrapper(self)
        count: int = read_object(self, OBJECT, 0, n_owners) if address_in(self) else 0
        return count

    def _move(self) -> ObjectRValueRef:
        """Mark the object for a call that may steal its handle."""
        return ObjectRValueRef(self)

    def __move_handle_from__(self, other: Any, /) -> None:
        """Move the handle of another object to this wrapper."""
        check_wrapper(self)
        if not isinstance(other, CObject):
            _blank().__move_handle_from__(other)  # it raises the error
        if other._ffi_is_function and not self._ffi_is_function:
            raise TypeError(messages.KEEPS_HANDLE)
        if other is self:
            return
        if self._ffi_is_function:
            address = other._ffi_address
            if not address:
                raise_no_handle(self)
            if other._ffi_listing != LISTED:
                share(other)
            core.incref(address)
            self._put_function(address)
            return
        old = move(other, self)
        if old == -1:
            refuse_in_use()
        _let_list(self)
        if old:
            core.decref(old)
        if hooks.subclass_made is not None and address_in(self):
            hooks.subclass_made(self)

    @hidden
    def __init_handle_by_constructor__(self, *args: Any) -> None:
        """Steal the handle of the object that a native function returns."""
        if not (issubclass(type(self), Wrapper) and args and isinstance(args[0], CObject) and args[0]._ffi_is_function):
            check_wrapper(self)
            _blank().__init_handle_by_constructor__()  # it raises the error
        if self._ffi_address and hooks.object_replaced is not None:
            hooks.object_replaced(self)
        address = args[0]._make(args[1:])
        if self._ffi_is_function:
            self._put_function(address)
        else:
            put_handle(self, address)

    def _put_function(self, address: int) -> None:
        raise NotImplementedError

    @hidden
    def _shallow_copy(self) -> Any:
        return dataclass.shallow_copy(self)

    @hidden
    def _deep_copy(self, *args: Any) -> Any:
        return dataclass.deep_copy(self, args)

    def _swap_memo(self, memo: Any, /) -> Any:
        return dataclass.swap_memo(memo)


@final
class ObjectRValueRef:
    """An object marked by _move(): the callee of a call with it may steal the handle."""

    __slots__ = ("_object",)

    _object: CObject

    def __new__(cls, *args: Any, **kwargs: Any) -> ObjectRValueRef:
        check_new(cls, ObjectRValueRef, "ObjectRValueRef")
        (obj,) = bind("ObjectRValueRef", ("obj",), 1, args, kwargs)
        if not isinstance(obj, CObject):
            binding.ObjectRValueRef(obj)  # it raises the error
        if obj._ffi_is_function:
            raise TypeError(messages.KEEPS_HANDLE)
        self = object.__new__(cls)
        self._object = obj
        return self
