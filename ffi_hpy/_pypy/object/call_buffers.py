"""Memory for the arguments and the result of a call: a pool of call buffers, one for each call in progress.

A call buffer belongs to one call, so neither threads nor nested calls share memory.
"""

from __future__ import annotations

from ..context.backend import WORDS, address_of, buffer_at, cast, core, doubles_at, n_owners, new_words, words_at
from ..context.hidden import hidden
from ..context.py_owners import drain, finish, waiting, weak_new
from ..context.texts import messages
from .identity import (
    LISTED,
    NOT_KEPT,
    UNLISTED,
    WAITING,
    Usable,
    held_by_calls,
    keep,
    mark,
    put_back,
    register,
    take_out,
    unlist,
    unmark,
)
from .objects import ONLY_REFERENCE, check_wrapper, expect, let_find, raise_no_handle
from .preservation import look_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = [
    "FIRST_OBJECT",
    "LENT_COUNT",
    "NO_RESULT",
    "N_ARGUMENTS",
    "CallBuffer",
    "Offer",
    "announce",
    "frame_for",
    "give",
    "read_object",
    "refuse_in_use",
    "take",
    "use",
]

NO_RESULT = 0x66707963 << 32
"""The first word of the result before a call, with FFI_HPY_TAKES_CONTAINERS: Python converts the containers of bound
libraries itself."""
N_ARGUMENTS = 16
"""The number of arguments that fit into a normal call buffer."""
_ROOM = 256
"""Words of the room of a call buffer, for strings and containers."""
FIRST_OBJECT = 7
"""Words of a TVMFFIObject with the largest body in the room, a TVMFFISeqCell."""
LENT_COUNT = 1 << 32 | 1 << 30  # FFI_HPY_LENT_COUNT of ffi_hpy/c_bind.h

_pool: list[CallBuffer] = []  # append and pop are atomic
_spare_held: list[list[Any]] = []  # of call buffers that were too large for a pool
_larger: tuple[tuple[int, list[CallBuffer]], ...] = ((128, []), (1024, []), (8192, []))  # size, pool


class CallBuffer:
    """The call buffer, the memory of one call: `words` contains its arguments, two words each; `doubles` is the same
    memory. `result` points to the words of its result, `spare` to two more, for a TVMFFIByteArray. The room for strings
    and containers (convert/lent.py) follows.

    All of it has `size` words, at `address`; `memory` is a buffer of it. The room is free from the word `used` on; at
    the end of the call it is free from `room` on. The words before `room`, up to FIRST_OBJECT before it, are for the
    header of the first object in the room. `held` is released at the end of the call: the wrappers that the call
    uses, offers of handles, and handles that were created for the call.
    """

    __slots__ = ("address", "doubles", "held", "memory", "pool", "result", "room", "size", "spare", "used", "words")

    def __init__(self, n_arguments: int, pool: list[CallBuffer] | None) -> None:
        self.pool = pool
        self.used = self.room = 2 * n_arguments + 4 + FIRST_OBJECT
        self.size = self.room + _ROOM
        self.words: Any = new_words(self.size)
        self.doubles: Any = doubles_at(self.words)
        self.result: Any = self.words + 2 * n_arguments
        self.spare: Any = self.result + 2
        self.memory: Any = buffer_at(self.words, 8 * self.size)
        self.address = address_of(self.words)
        header = self.words + self.room - FIRST_OBJECT
        header[0] = LENT_COUNT
        header[3] = self.address + 8 * self.room
        header[5] = _ROOM
        self.held: list[Any] = _spare_held.pop() if _spare_held else _new_held()

    def __del__(self) -> None:  # a signal interrupted the code before or in give()
        try:
            _end_all(self)
        except BaseException as interruption:  # another signal
            finish(_end_all, self, interruption)

    def release(self) -> None:
        """Release the objects in `held`, the last one first."""
        held = self.held
        if held:  # the first two without a loop, so that the JIT compiles this into the caller
            _end(held)
            if held:
                _end(held)
                if held:
                    self._release_rest()

    def _release_rest(self) -> None:
        held = self.held
        while held:
            _end(held)


def _end_all(frame: CallBuffer) -> None:
    if hasattr(frame, "held"):  # missing if the stack was exhausted before __init__ set it
        frame.release()


def _new_held() -> list[Any]:
    held: list[Any] = []
    held_by_calls.append(held)
    return held


def _look_after(wrapper: Any, address: int) -> None:
    """Register a wrapper at the end of a call that has left its object with other owners, and keep it if it has
    state."""
    let_find(wrapper)
    if wrapper._ffi_listing == NOT_KEPT and n_owners(address) != 1:
        keep(wrapper)


def _end(held: list[Any]) -> None:
    """End the last item of a list. A wrapper is in use until it has left the list."""
    item = held[-1]
    if issubclass(type(item), Usable):
        address = item._ffi_address
        # A wrapper that is UNLISTED by now has lost its place to a move (Offer.begin): its next call lists it again.
        if UNLISTED < item._ffi_listing < LISTED and address and cast(WORDS, address)[0] != ONLY_REFERENCE:
            _look_after(item, address)
        held.pop()
        return
    held.pop()
    if type(item) is int:
        core.decref(item)
    else:
        item.end()


def take() -> CallBuffer:
    """Return a call buffer for N_ARGUMENTS, for this call alone."""
    if waiting[0]:
        drain()
    try:
        return _pool.pop()
    except IndexError:
        pass  # outside of the handler, because PyPy may fail to add the context to a RecursionError
    return CallBuffer(N_ARGUMENTS, _pool)


def frame_for(n_arguments: int) -> CallBuffer:
    """Return a call buffer for that many arguments."""
    return take() if n_arguments <= N_ARGUMENTS else _take_larger(n_arguments)


def _take_larger(n_arguments: int) -> CallBuffer:
    for most, pool in _larger:
        if n_arguments <= most:
            try:
                return pool.pop()
            except IndexError:
                pass
            return CallBuffer(most, pool)
    return CallBuffer(n_arguments, None)


def give(frame: CallBuffer) -> None:
    """Return a call buffer to its pool."""
    if frame.held:
        frame.release()
    frame.used = frame.room
    pool = frame.pool
    if pool is not None:
        pool.append(frame)
    else:
        _spare_held.append(frame.held)
        del frame.held


def use(frame: CallBuffer, wrapper: Any) -> None:
    """Keep a wrapper's object in use until the end of the call. Must run before the address is read: a mover clears the
    address first, then checks for uses. TypeError for an object that only object.__new__() has made."""
    _ = wrapper._ffi_listing
    frame.held.append(wrapper)


@hidden
def announce(frame: CallBuffer, wrapper: Any, address: int) -> None:
    """Prepare a wrapper that a call uses, and that is not listed, for native code that returns its object."""
    if wrapper._ffi_is_late and not wrapper._ffi_has_state:
        wrapper._ffi_listing = WAITING  # before the mark, as in let_wait()
        if mark(address):
            return
    listed = let_find(wrapper)
    if listed is not wrapper:
        frame.held.append(listed)


@hidden
def read_object(wrapper: Any, type_index: int, depth: int, read: Callable[[Any], Any]) -> Any:
    """Return the result of read() for the words of a wrapper's object, which must have the given type (see
    objects.expect). The object cannot be moved away during the call."""
    check_wrapper(wrapper)
    frame = take()
    try:
        use(frame, wrapper)
        return read(words_at(expect(wrapper, type_index, depth)))
    finally:
        give(frame)


def refuse_in_use() -> NoReturn:
    """RuntimeError: a call uses the handle of a wrapper."""
    raise RuntimeError(messages.IN_USE)


class Offer:
    """The handle of a wrapper while a call may steal it. The callee gets a pointer to a separate word, and steals the
    handle by storing 0 there."""

    __slots__ = ("_has_begun", "_slot", "_watched", "slot_at", "wrapper")

    def __init__(self, wrapper: Any) -> None:
        self.wrapper = wrapper
        self._has_begun = False
        self._watched = 0
        self._slot = new_words(1)
        self.slot_at = address_of(self._slot)

    def begin(self) -> bool:
        """Take the handle out of the wrapper. Returns False if the wrapper was returned again in the meantime. The
        caller must call end(), even after a failure."""
        wrapper = self.wrapper
        is_watched = wrapper._ffi_has_state and register(wrapper) is wrapper
        address = take_out(wrapper)
        if address == -1:
            if wrapper._ffi_is_repeated:
                return False
            refuse_in_use()
        if not address:
            raise_no_handle(wrapper)
        self._slot[0] = address
        self._has_begun = True
        if is_watched:
            weak_new(address)
            self._watched = address
        else:
            unmark(address)
            if wrapper._ffi_listing == WAITING:
                wrapper._ffi_listing = UNLISTED
            unlist(address, None)  # any registered wrapper: if the object comes back, it gets a new one
        return True

    def take(self) -> int:
        """Steal the handle, as a callee would."""
        address: int = self._slot[0]
        self._slot[0] = 0
        return address

    def put(self, address: int) -> None:
        """Put back a handle that take() returned."""
        self._slot[0] = address

    def end(self) -> None:
        """Give the handle back to the wrapper unless it was stolen."""
        address = self.take()
        if address and not put_back(self.wrapper, address):
            core.decref(address)
        watched = self._watched
        if watched:
            self._watched = 0
            look_after(self.wrapper, watched)
        if self._has_begun:
            self._has_begun = False
            self.wrapper._ffi_uses.pop()
