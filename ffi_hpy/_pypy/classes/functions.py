"""Function: calling native functions, the hot path.

A call takes a frame, puts the arguments into it, calls the function's own C code with the frame's memory, and makes a
Python value of the result. The JIT compiles all of this into the caller. Small numbers of arguments have lines of their
own, because the JIT does not follow loops into a called function.
"""

from __future__ import annotations

import os

from ..._start.fork import new_lock
from ..context import bridge, hooks
from ..context.backend import SAFE_CALL, cast, core, words_at
from ..context.hidden import hidden
from ..context.holds import drop
from ..context.numbers import OBJECT
from ..context.signals import interruptions, raise_interruption
from ..context.texts import check_new, shown
from ..convert import exchanged
from ..convert.arguments import NeedsBinding, put
from ..convert.results import get
from ..object.errors import raise_taken, take_pending
from ..object.frames import N_ARGUMENTS, Offer, frame_for, give, take
from ..object.identity import share, uses_of
from ..object.objects import is_shared, raise_no_handle, settled, wrap, wrap_apart
from .cobject import CObject, ObjectRValueRef, check_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..object.frames import Frame

__all__ = ["Function", "named"]

_keeps_by_default = os.environ.get("TVM_FFI_RELEASE_GIL_BY_DEFAULT") == "0"
_filling = new_lock()  # held while a Function without a handle gets one: of several threads one wins


class Function(CObject):
    """A native function. Arguments are positional, and converted by what they are; errors of native code are
    raised. Any thread may call it; the GIL is given up meanwhile where release_gil is true."""

    __slots__ = ("_about", "_call", "_keeps_gil", "_kept", "_name")

    _is_function = True
    _about: int  # the number of what the package has noted of the author's words (ffi_hpy/_types/about.py)
    _call: Any  # the safe_call of the native function, None without one
    _name: str
    _keeps_gil: bool | None  # None: as the environment says
    _kept: Any  # the binding's Function for this one, made for calls that keep the GIL

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, Function, "Function")
        if cls is Function:
            raise TypeError(
                "Function cannot be made directly: use ffi_hpy.convert(callable) or ffi_hpy.get_global_func(name)"
            )
        self = CObject.__new__(cls)
        self._about = 0
        self._call = None
        self._name = ""
        self._keeps_gil = None
        self._kept = None
        return self

    @hidden
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._call_by_names(args, kwargs)
        if self._keeps_gil or (_keeps_by_default and self._keeps_gil is None):
            return self._call_binding(args)
        n = len(args)
        frame = take() if n <= N_ARGUMENTS else frame_for(n)
        try:
            # All of it in one function: callbacks nest, and each level costs stack.
            if n == 1:
                put(frame, 0, args[0], self)
            elif n == 2:
                put(frame, 0, args[0], self)
                put(frame, 2, args[1], self)
            elif n == 3:
                put(frame, 0, args[0], self)
                put(frame, 2, args[1], self)
                put(frame, 4, args[2], self)
            elif n == 4:
                put(frame, 0, args[0], self)
                put(frame, 2, args[1], self)
                put(frame, 4, args[2], self)
                put(frame, 6, args[3], self)
            elif n:
                self._put_all(frame, args)
            result = frame.result
            result[0] = 0
            result[1] = 0
            call, address = self._call, self._ffi_address
            if call is None or not address:  # it has none yet; or a finalizer has brought it back, after its end
                raise_no_handle(self)
            try:
                failed = call(address, frame.words, n, result) != 0
                if not failed:
                    if frame.held:
                        frame.release()
                    if interruptions:  # a signal of which native code has learnt, and has gone on
                        raise_interruption()
            except BaseException:  # a signal came
                _drop(result)
                raise
            if failed:
                self._fail(frame)
            return get(result)
        except NeedsBinding:
            pass
        finally:
            give(frame)
        return self._call_binding(args)

    @hidden
    def _fail(self, frame: Frame) -> NoReturn:
        block, error = take_pending()  # what ends with the call may run code that uses the thread's error
        if frame.held:
            frame.release()
        raise_taken(block, error, self._name)

    @hidden
    def _call_binding(self, args: tuple[Any, ...]) -> Any:
        """A call that the binding makes: it keeps the GIL, or an argument has an exchange table."""
        kept = self._kept
        if kept is None:
            if not self._ffi_address:
                raise_no_handle(self)
            kept = self._kept = bridge.lift(self._ffi_address)
            kept.__name__ = self._name
        kept.release_gil = self.release_gil
        frame = take()
        try:
            value = exchanged.lower(kept(*[_passed(arg, frame) for arg in args]))
        finally:
            give(frame)
        if interruptions:
            raise_interruption()
        return value

    @hidden
    def _make(self, args: tuple[Any, ...]) -> int:
        """The handle of the object that a call returns, owned; TypeError if it returns none."""
        n = len(args)
        frame = frame_for(n)
        try:
            if 0 < n <= 4:  # the JIT compiles what has no loop into the caller
                put(frame, 0, args[0], self)
                if n > 1:
                    put(frame, 2, args[1], self)
                    if n > 2:
                        put(frame, 4, args[2], self)
                        if n > 3:
                            put(frame, 6, args[3], self)
            elif n:
                self._put_all(frame, args)
            result = frame.result
            result[0] = 0
            result[1] = 0
            call, address = self._call, self._ffi_address
            if call is None or not address:
                raise_no_handle(self)
            try:
                failed = call(address, frame.words, n, result) != 0
            except BaseException:  # a signal came
                _drop(result)
                raise
            if failed:
                self._fail(frame)
            type_index = result[0] & 0xFFFFFFFF
            if type_index < OBJECT:
                raise TypeError(
                    f"{self._name or 'native function'}() must return an object, it returned a value of type index "
                    f"{type_index}"
                )
            made: int = result[1]
            return made
        finally:
            give(frame)

    @hidden
    def _put_all(self, frame: Frame, args: tuple[Any, ...]) -> None:
        i = 0
        for arg in args:
            put(frame, i, arg, self)
            i += 2

    def _put_function(self, address: int) -> None:
        """Give a Function that has none its handle, which is taken; it keeps that."""
        try:
            check_function(address)
            self._fill(address)
        except TypeError:
            core.decref(address)
            raise
        self._call = cast(SAFE_CALL, words_at(address)[3])
        if type(self) is Function and is_shared(address):
            share(self)

    def _fill(self, address: int) -> None:
        with _filling:
            if self._ffi_address:
                raise TypeError("the handle of a Function cannot be moved away")
            self._ffi_address = address

    @hidden
    def _call_by_names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ordered = hooks.arguments_by_names(self, (*args, *kwargs.values()), tuple(kwargs))
        if isinstance(ordered, str):
            raise TypeError(ordered)
        return self(*ordered)

    @property
    def __name__(self) -> str:
        """Name for messages; "" if unknown."""
        return self._name

    @__name__.setter
    def __name__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"__name__ must be str, not {type(name).__name__}")
        self._name = name

    @__name__.deleter
    def __name__(self) -> None:
        raise TypeError("__name__ cannot be deleted")

    @property
    def release_gil(self) -> bool:
        """Whether a call gives up the GIL while native code runs."""
        return not (_keeps_by_default if self._keeps_gil is None else self._keeps_gil)

    @release_gil.setter
    def release_gil(self, value: Any) -> None:
        if not isinstance(self, Function):
            raise TypeError(f"expected a Function, got {type(self).__name__}")
        self._keeps_gil = not value

    @release_gil.deleter
    def release_gil(self) -> None:
        raise TypeError("release_gil cannot be deleted")

    def __repr__(self) -> str:
        name = type(self).__name__
        if not self._ffi_address:
            return f"{name}(chandle=None)"
        return f"<{name}{' ' if self._name else ''}{shown(self._name, 80)} at {self._ffi_address:#x}>"


def _drop(result: Any) -> None:
    """Drop what a call has returned, if it has not failed: nobody will see either."""
    block, error = take_pending()
    if block:
        drop(block)
    elif error:
        core.decref(error)
    elif result[0] & 0xFFFFFFFF >= OBJECT:
        core.decref(result[1])


class _Lent:
    """The handle of a wrapper in a wrapper of the binding, while a call of the binding may take it."""

    def __init__(self, wrapper: Any) -> None:
        self._offer = Offer(wrapper)
        self._offer.begin()
        self._lent = bridge.lift_taken(self._offer.take())
        self.argument = self._lent._move()

    def end(self) -> None:
        """Give back what was not taken."""
        address = self._lent.__chandle__()
        if address:
            core.incref(address)
            self._offer.put(address)
        self._offer.end()


def _passed(arg: Any, frame: Frame) -> Any:
    """An argument of a call that the binding makes. The frame holds what the call uses."""
    if isinstance(arg, ObjectRValueRef) and not arg._object._ffi_is_repeated:
        lent = _Lent(arg._object)
        frame.held.append(lent)
        return lent.argument
    wrapper = arg._object if isinstance(arg, ObjectRValueRef) else arg
    if isinstance(wrapper, CObject):
        uses = uses_of(wrapper)
        uses.append(None)
        frame.held.append(uses)
        return bridge.lift(wrapper._ffi_address or settled(wrapper))
    return arg


def named(address: int, name: str) -> Any:
    """The Function of a handle, which is taken, found by a name: a new wrapper, which has settings of its own. Without
    a name the one that stands for it."""
    if not name:
        return wrap(address)
    function = wrap_apart(address)
    if isinstance(function, Function):
        function._name = name
    return function
