"""Function: calls of native functions, the hot path.

A call takes a call buffer, puts the arguments into it, calls the function's C code with the buffer's memory, and
converts the result to Python. The JIT compiles all of this into the caller. Small numbers of arguments have
separate lines, because the JIT does not follow loops into a called function.
"""

from __future__ import annotations

import os

from ..._start.fork import new_lock
from ..context import bridge, hooks
from ..context.backend import SAFE_CALL, cast, core, words_at
from ..context.binding import binding
from ..context.bound import first_overload
from ..context.hidden import hidden
from ..context.numbers import OBJECT
from ..context.py_owners import drop
from ..context.signals import interruptions, raise_interruption
from ..context.texts import check_new, messages, shown
from ..convert import exchanged
from ..convert.arguments import NeedsBinding, put
from ..convert.results import get
from ..object.call_buffers import N_ARGUMENTS, NO_RESULT, Offer, frame_for, give, take, use
from ..object.cycles import find_callable
from ..object.errors import is_end, name_classes, raise_taken, take_pending
from ..object.identity import LISTED, share
from ..object.objects import is_shared, raise_no_handle, settled, wrap, wrap_apart
from .cobject import CObject, ObjectRValueRef, check_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["Function", "named"]

_keeps_by_default = os.environ.get("TVM_FFI_RELEASE_GIL_BY_DEFAULT") == "0"
_filling = new_lock()  # held while a Function without a handle gets one: only one of several threads succeeds


def _check_function(value: object) -> None:
    """Raise TypeError if the value is not a Function: properties may be called with any object."""
    if not isinstance(value, Function):
        raise TypeError(f"expected a Function, got {type(value).__name__}")


class Function(CObject):
    """A native function. Arguments are positional and are converted by their types; errors of native code are raised.
    Any thread may call it; the call releases the GIL if release_gil is true."""

    __slots__ = ("_about", "_call", "_first", "_keeps_gil", "_kept", "_name")

    _ffi_is_function = True
    _about: int  # the number of the function's metadata in the package (ffi_hpy/_types/function_metadata.py)
    _call: Any  # the native function's safe_call, None without a function
    _first: int  # the address of the first overload of a bound library's function, else 0
    _name: str
    _keeps_gil: bool | None  # None: the environment variable decides
    _qualname: Any  # the package sets it, too
    _by_names: Any  # the package sets it (ffi_hpy/_types/function_metadata.py)
    _kept: Any  # the C binding's Function of the same object, for calls that keep the GIL
    _keep: Any  # the package sets it (ffi_hpy/_bind/define.py): an argument as a Python object in native code

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, Function, "Function")
        if cls is Function:
            binding.Function()  # it raises the error
        self = CObject.__new__(cls)
        self._about = 0
        self._call = None
        self._first = 0
        self._name = ""
        self._keeps_gil = None
        self._kept = None
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "__qualname__":  # the class has no entry of that name
            return self._qualname
        return CObject.__getattr__(self, name)

    __getattr__._knows_slots = True  # type: ignore[attr-defined]

    @hidden
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._call_by_names(args, kwargs)
        if self._keeps_gil or (_keeps_by_default and self._keeps_gil is None):
            return self._call_binding(args)
        n = len(args)
        frame = take() if n <= N_ARGUMENTS else frame_for(n)
        try:
            # All of it is in one function: callbacks nest, and each level costs stack.
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
            result[0] = NO_RESULT
            result[1] = 0
            call, address = self._call, self._ffi_address
            if call is None or not address:  # no handle yet; or a finalizer resurrected the Function
                raise_no_handle(self)
            try:
                failed = call(address, frame.words, n, result) != 0
                if not failed:
                    if frame.held:
                        frame.release()
                    if interruptions:  # native code learned of a signal and went on
                        raise_interruption()
            except BaseException:  # a signal handler raised
                _drop(result)
                raise
            if failed:
                self._fail(frame, args)
            return get(result)
        except NeedsBinding:
            pass
        finally:
            give(frame)
        return self._call_binding(args)

    @hidden
    def _run(self, frame: CallBuffer, n: int) -> bool:
        """Make the call with the n arguments in a call buffer. Return whether it failed."""
        result = frame.result
        result[0] = NO_RESULT
        result[1] = 0
        call, address = self._call, self._ffi_address
        if call is None or not address:
            raise_no_handle(self)
        try:
            status: int = call(address, frame.words, n, result)
        except BaseException:  # a signal handler raised
            _drop(result)
            raise
        return status != 0

    @hidden
    def _fail(self, frame: CallBuffer, args: tuple[Any, ...], end: Any = None) -> Any:
        """Raise the error of a call. If it is the end of an iteration, and `end` is not None, return that."""
        block, error = take_pending()  # releasing the arguments may run code that uses the thread's error
        if frame.held:
            frame.release()
        if block or not error or not is_end(error):
            raise_taken(block, name_classes(error, frame.words, args) if error else 0, self._name)
        core.decref(error)
        if end is None:
            raise StopIteration
        return end

    @hidden
    def _step(self, iterator: Any, end: Any) -> Any:
        """Return the result of the call of a method `__next__`, `end` after the last item: PyPy takes a microsecond to
        raise an exception from one compiled function to another."""
        if self._keeps_gil or (_keeps_by_default and self._keeps_gil is None):
            try:
                return self(iterator)
            except StopIteration:
                return end
        frame = take()
        try:
            put(frame, 0, iterator, self)
            if self._run(frame, 1):
                return self._fail(frame, (iterator,), end)
            if frame.held:
                frame.release()
            if interruptions:
                raise_interruption()
            return get(frame.result)
        finally:
            give(frame)

    @hidden
    def _call_binding(self, args: tuple[Any, ...]) -> Any:
        """Make the call through the C binding, because it keeps the GIL or an argument has a DLPack C exchange API."""
        kept = self._kept
        if kept is None:
            if not self._ffi_address:
                raise_no_handle(self)
            kept = self._kept = bridge.to_binding(self._ffi_address)
            kept.__name__ = self._name
        kept.release_gil = self.release_gil
        frame = take()
        try:
            value = exchanged.from_binding(kept(*[_passed(arg, frame) for arg in args]))
        finally:
            give(frame)
        if interruptions:
            raise_interruption()
        return value

    @hidden
    def _make(self, args: tuple[Any, ...]) -> int:
        """Return the handle of the object that a call returns, owned; TypeError if the result is not an object."""
        n = len(args)
        frame = take() if n <= N_ARGUMENTS else frame_for(n)
        try:
            if 0 < n <= 4:  # the JIT compiles code without loops into the caller
                put(frame, 0, args[0], self)
                if n > 1:
                    put(frame, 2, args[1], self)
                    if n > 2:
                        put(frame, 4, args[2], self)
                        if n > 3:
                            put(frame, 6, args[3], self)
            elif n:
                self._put_all(frame, args)
            if self._run(frame, n):
                self._fail(frame, args)
            result = frame.result
            type_index = result[0] & 0xFFFFFFFF
            if type_index < OBJECT:
                raise TypeError(messages.NOT_AN_OBJECT % (self._name or "native function", type_index))
            made: int = result[1]
            return made
        finally:
            give(frame)

    @hidden
    def _put_all(self, frame: CallBuffer, args: tuple[Any, ...]) -> None:
        i = 0
        for arg in args:
            put(frame, i, arg, self)
            i += 2

    def _put_function(self, address: int) -> None:
        """Steal a handle for a Function that has none. The Function keeps it for life."""
        try:
            check_function(address)
            self._fill(address)
        except TypeError:
            core.decref(address)
            raise
        self._call = cast(SAFE_CALL, words_at(address)[3])
        self._first = first_overload(address)
        if type(self) is Function and is_shared(address):
            share(self)
        if hooks.object_made is not None:
            hooks.object_made(address)

    def _fill(self, address: int) -> None:
        with _filling:
            if self._ffi_address:
                raise TypeError(messages.KEEPS_HANDLE)
            self._ffi_address = address

    @hidden
    def _call_by_names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ordered = self._by_names(args, kwargs)
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
            raise TypeError(messages.NOT_A_STR % ("__name__", type(name).__name__))
        self._name = name

    @__name__.deleter
    def __name__(self) -> None:
        raise TypeError(messages.NOT_DELETED % "__name__")

    @property
    def release_gil(self) -> bool:
        """Whether a call releases the GIL while native code runs."""
        return not (_keeps_by_default if self._keeps_gil is None else self._keeps_gil)

    @release_gil.setter
    def release_gil(self, value: Any) -> None:
        _check_function(self)
        self._keeps_gil = not value

    @release_gil.deleter
    def release_gil(self) -> None:
        raise TypeError(messages.NOT_DELETED % "release_gil")

    def _set_takes_python(self, value: bool) -> None:
        self.__class__ = _PythonFunction

    _takes_python: Any = property(None, _set_takes_python)

    @property
    def _callable(self) -> Any:
        """The Python callable that the function is made of, None for another function."""
        _check_function(self)
        return find_callable(self._ffi_address)

    def __repr__(self) -> str:
        name = type(self).__name__
        if not self._ffi_address:
            return f"{name}(chandle=None)"
        return f"<{name}{' ' if self._name else ''}{shown(self._name, 80)} at {self._ffi_address:#x}>"


class _DocOfFunction:
    """The attribute `__doc__` of Function, which the package sets."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return Function.__dict__["__doc__"].__get__(instance, owner)


class _PythonFunction(Function):
    # A Function whose arguments are the Python objects themselves

    __slots__ = ()
    __doc__: Any = _DocOfFunction()

    @hidden
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._call_by_names(args, kwargs)
        return Function.__call__(self, *[self._keep(arg) for arg in args])

    @hidden
    def _make(self, args: tuple[Any, ...]) -> int:
        return Function._make(self, tuple([self._keep(arg) for arg in args]))

    @hidden
    def _step(self, iterator: Any, end: Any) -> Any:
        return Function._step(self, self._keep(iterator), end)


vars(type)["__name__"].__set__(_PythonFunction, "Function")  # it is not a class for users


def _drop(result: Any) -> None:
    """Release the result of a call, or its error if it failed: a signal handler's exception replaces both."""
    block, error = take_pending()
    if block:
        drop(block)
    elif error:
        core.decref(error)
    elif result[0] & 0xFFFFFFFF >= OBJECT:
        core.decref(result[1])


class _Lent:
    """A wrapper's handle, lent to a wrapper of the C binding while a call of the C binding may steal it."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._lent = bridge.give_to_binding(offer.take())
        self.argument = self._lent._move()

    def end(self) -> None:
        """Return the handle if it was not stolen."""
        address = self._lent.__chandle__()
        if address:
            core.incref(address)
            self._offer.put(address)
        self._offer.end()


def _passed(arg: Any, frame: CallBuffer) -> Any:
    """Convert an argument for a call through the C binding. The call buffer keeps the wrapper in use during the
    call."""
    if isinstance(arg, ObjectRValueRef) and not arg._object._ffi_is_repeated:
        offer = Offer(arg._object)
        if offer.begin():
            lent = _Lent(offer)
            frame.held.append(lent)
            return lent.argument
    wrapper = arg._object if isinstance(arg, ObjectRValueRef) else arg
    if isinstance(wrapper, CObject):
        use(frame, wrapper)
        address = wrapper._ffi_address or settled(wrapper)
        if wrapper._ffi_listing != LISTED:
            share(wrapper)
        return bridge.to_binding(address)
    return arg


def named(address: int, name: str) -> Any:
    """Return a Function for a handle, which is stolen, looked up by a name: a new wrapper with its own settings.
    Without a name, return the registered wrapper or a new one."""
    if not name:
        return wrap(address)
    function = wrap_apart(address)
    if isinstance(function, Function):
        function._name = name
    return function
