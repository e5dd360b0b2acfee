"""The handle of a wrapper: its slots, and the release of the reference when the wrapper is finalized.

On PyPy a wrapper releases the reference in its finalizer: weak references to the wrapper are dead by then. On CPython
they are not, so another thread could find a wrapper that is being finalized. There the handle is a second object, which
ends after the wrapper, and the wrapper has properties in place of the slots.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from warnings import catch_warnings, simplefilter

from ..context.backend import address_of, n_owners, new_words
from ..context.py_owners import end_at, end_waiting, finish, waiting
from .identity import LISTED, NOT_KEPT, UNLISTED, Usable, changing, find, has_entry, share, unlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Handle", "has_finalizer", "new_handle", "run_finalizer"]


class _Handle(Usable):
    """Owner of a reference to a native object. The slots are described in objects.Wrapper."""

    __slots__ = (
        "__weakref__",
        "_ffi_address",
        "_ffi_again",
        "_ffi_is_finalized",
        "_ffi_listing",
        "_ffi_node",
        "_ffi_uses",
    )

    _ffi_has_state = False
    _ffi_address: int
    _ffi_again: _Again  # missing before the first finalizer
    _ffi_is_finalized: bool  # True, or missing: the `__del__` of a subclass has run (cycles.py)
    _ffi_listing: int
    _ffi_node: Any  # only during a search for cycles
    _ffi_uses: Any

    def __init_subclass__(cls, /, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__del__  # possibly a mixin's
        if not hasattr(own, "_ends_handle"):
            with catch_warnings():  # a warning says that it will not be called, but the base class has one
                simplefilter("ignore", RuntimeWarning)
                cls.__del__ = _finalizer(own)  # type: ignore[method-assign]

    def __del__(self) -> None:
        try:
            if not (self._ffi_has_state and _must_live(self, _Handle.__del__)):
                _end(self)
        except BaseException as interruption:  # a signal handler raised
            finish(_end, self, interruption)

    __del__._ends_handle = True  # type: ignore[attr-defined]


class _Again:
    """The second finalizer of a wrapper: PyPy runs its `__del__` once. Only the wrapper refers to this object."""

    __slots__ = ("_run", "_wrapper")

    def __init__(self, run: Callable[[Any], None], wrapper: Any) -> None:
        self._run = run
        self._wrapper = wrapper

    def __del__(self) -> None:
        self._run(self._wrapper)


def _must_live(wrapper: Any, run: Callable[[Any], None]) -> bool:
    """Resurrect a wrapper with state whose object has other owners: native code that was not passed the object, but had
    a pointer or a weak reference to it. The wrapper ends later by run(). Weak references to the wrapper are dead."""
    try:
        address = wrapper._ffi_address
    except (AttributeError, TypeError):
        return False
    if not address or n_owners(address) == 1:
        return False
    if wrapper._ffi_listing == LISTED and not has_entry(address):  # it must not be registered
        return False
    if share(wrapper) is not wrapper:
        return False
    wrapper._ffi_again = _Again(run, wrapper)
    return True


def _finalizer(own: Any) -> Any:
    """Return the `__del__` of a subclass that defines one. The method runs the `__del__` of the subclass. The handle
    ends after the next collection, because the subclass may have resurrected the wrapper."""

    def __del__(self: _Handle) -> None:
        if self._ffi_has_state and _must_live(self, __del__):
            return
        try:
            if not _is_finalized(self):
                own(self)
        finally:
            _end_later(self)

    __del__._ends_handle = True  # type: ignore[attr-defined]
    __del__._own = own  # type: ignore[attr-defined]
    return __del__


def _is_finalized(wrapper: Any) -> bool:
    try:
        return bool(vars(_Handle)["_ffi_is_finalized"].__get__(wrapper))
    except AttributeError:
        return False


def has_finalizer(wrapper: Any) -> bool:
    """Whether the class of a wrapper has a `__del__` that has not run."""
    return hasattr(type(wrapper).__del__, "_own") and not _is_finalized(wrapper)


def run_finalizer(wrapper: Any) -> None:
    """Run the `__del__` of the class of a wrapper, unless it has run."""
    if has_finalizer(wrapper):
        wrapper._ffi_is_finalized = True
        own = type(wrapper).__del__._own
        try:
            own(wrapper)
        except BaseException as exc:  # shown like any exception of a finalizer
            found = {"exc_type": type(exc), "exc_value": exc, "exc_traceback": exc.__traceback__}
            sys.unraisablehook(SimpleNamespace(**found, err_msg="Exception ignored in", object=own))


def _end_later(wrapper: Any) -> None:
    try:
        if wrapper._ffi_listing >= NOT_KEPT and unlist(wrapper._ffi_address, wrapper):  # the weak reference is dead
            wrapper._ffi_listing = UNLISTED
        wrapper._ffi_again = _Again(_Handle.__del__, wrapper)
    except (AttributeError, TypeError):
        pass  # as in _end()
    except BaseException as interruption:  # a signal handler raised
        finish(_end, wrapper, interruption)


_words: list[Any] = []
"""Words of memory for references that are being released; append and pop are atomic."""


def _take_reference(handle: _Handle, word: Any) -> bool:
    """Move the reference of a wrapper that has ended to a word in memory, and remove the wrapper from the instance map.
    Returns False, and lets the wrapper end later, if another thread has found the wrapper among all objects since it
    ended (objects.wrapper_of): then the program has it again."""
    with changing:
        address = handle._ffi_address
        if handle._ffi_listing >= NOT_KEPT:
            if find(address) is handle:  # by a weak reference that is newer than the end
                handle._ffi_again = _Again(_Handle.__del__, handle)
                return False
            unlist(address, handle)
        word[0] = address
        handle._ffi_uses = word
        handle._ffi_address = 0
    return True


def _end(handle: _Handle) -> None:
    """Release the reference of a handle that is being destroyed. A signal may interrupt any step, and then this
    function is called again. So the reference moves to a word in memory first, and one call releases it there."""
    try:
        address, word = handle._ffi_address, handle._ffi_uses
    except (AttributeError, TypeError):  # object.__new__() made it, or a signal interrupted its creation
        return
    if address:
        try:
            word = _words.pop()
        except IndexError:
            word = new_words(1)
        if handle._ffi_listing == UNLISTED:  # no thread looks for it
            word[0] = address
            handle._ffi_uses = word
            handle._ffi_address = 0
        elif not _take_reference(handle, word):
            _words.append(word)
            return
    if word is None or type(word) is list:
        return
    end_at(address_of(word))
    handle._ffi_uses = None
    _words.append(word)
    if waiting[0]:  # the deferred decref of Python objects: an idle program makes no call that would run it
        end_waiting()


class _Apart(Usable):
    """A wrapper's part on CPython: the handle is a second object."""

    __slots__ = ("__weakref__", "_ffi_handle")

    _ffi_handle: _Handle


def _delegate(name: str) -> property:
    slot = getattr(_Handle, name)

    def get(self: _Apart) -> Any:
        return slot.__get__(self._ffi_handle)

    def put(self: _Apart, value: Any) -> None:
        slot.__set__(self._ffi_handle, value)

    return property(get, put)


def _new_apart(cls: Any) -> Any:
    self = object.__new__(cls)
    self._ffi_handle = _Handle()
    return self


if TYPE_CHECKING or sys.implementation.name == "pypy":
    Handle = _Handle
    new_handle = object.__new__
else:
    for _name in ("_ffi_address", "_ffi_is_finalized", "_ffi_listing", "_ffi_uses"):
        setattr(_Apart, _name, _delegate(_name))
    Handle = _Apart
    new_handle = _new_apart
