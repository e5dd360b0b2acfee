"""Memory for the arguments and the result of a call: a pool of frames, one for each call in progress.

A frame belongs to one call, so that neither threads nor nested calls share memory.
"""

from __future__ import annotations

from ..context.backend import address_of, buffer_at, core, doubles_at, new_words, words_at
from ..context.hidden import hidden
from ..context.holds import drain, finish, waiting
from .identity import take_out, unlist, uses_of
from .objects import check_wrapper, expect, raise_no_handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = [
    "N_ARGUMENTS",
    "TEXT_BYTES",
    "Frame",
    "Offer",
    "frame_for",
    "give",
    "read_object",
    "refuse_in_use",
    "take",
    "use",
]

N_ARGUMENTS = 16
"""So many arguments fit into the frame of a usual call."""
TEXT_BYTES = 1024
"""Text up to this length needs no memory of its own on its way."""

_pool: list[Frame] = []  # append and pop are atomic
_larger: tuple[tuple[int, list[Frame]], ...] = ((128, []), (1024, []), (8192, []))  # for so many arguments: a pool


class Frame:
    """The memory of a call: `words` has its arguments, two words each; `doubles` is the same memory. `result` points to
    the words of its result, `spare` to two more, for a TVMFFIByteArray.

    `text` is room for TEXT_BYTES bytes, at the address `text_at`. `held` is what ends with the call: uses of wrappers
    (Wrapper._ffi_uses), offers of handles, and handles that were made for it.
    """

    __slots__ = ("doubles", "held", "pool", "result", "spare", "text", "text_at", "words")

    def __init__(self, n_arguments: int, pool: list[Frame] | None) -> None:
        self.pool = pool
        n_words = 2 * n_arguments + 4
        self.words: Any = new_words(n_words + TEXT_BYTES // 8)
        self.doubles: Any = doubles_at(self.words)
        self.result: Any = self.words + 2 * n_arguments
        self.spare: Any = self.result + 2
        self.text: Any = buffer_at(self.words + n_words, TEXT_BYTES)
        self.text_at = address_of(self.words + n_words)
        self.held: list[Any] = []

    def __del__(self) -> None:  # a signal that came right before give(), or in it
        try:
            _end_all(self)
        except BaseException as interruption:  # another signal
            finish(_end_all, self, interruption)

    def release(self) -> None:
        """End what is held, the last first."""
        held = self.held
        if held:  # some of it without a loop, so that the JIT compiles it into the caller
            _end(held.pop())
            if held:
                _end(held.pop())
                if held:
                    self._release_rest()

    def _release_rest(self) -> None:
        held = self.held
        while held:
            _end(held.pop())


def _end_all(frame: Frame) -> None:
    if hasattr(frame, "held"):  # it has not where the stack ended before __init__ did
        frame.release()


def _end(held: Any) -> None:
    if type(held) is list:
        held.pop()
    elif type(held) is int:
        core.decref(held)
    else:
        held.end()


def take() -> Frame:
    """A frame for N_ARGUMENTS that nobody else uses."""
    if waiting[0]:
        drain()
    try:
        return _pool.pop()
    except IndexError:
        return Frame(N_ARGUMENTS, _pool)


def frame_for(n_arguments: int) -> Frame:
    """A frame for that many arguments."""
    return take() if n_arguments <= N_ARGUMENTS else _take_larger(n_arguments)


def _take_larger(n_arguments: int) -> Frame:
    for most, pool in _larger:
        if n_arguments <= most:
            try:
                return pool.pop()
            except IndexError:
                return Frame(most, pool)
    return Frame(n_arguments, None)


def give(frame: Frame) -> None:
    """End the use of a frame."""
    if frame.held:
        frame.release()
    pool = frame.pool
    if pool is not None:
        pool.append(frame)


def use(frame: Frame, wrapper: Any) -> None:
    """Use the object of a wrapper as long as the frame. Who moves the handle away looks at the uses after taking the
    address out: so this comes before the address is read."""
    uses = wrapper._ffi_uses
    if uses is None:
        uses = uses_of(wrapper)
    uses.append(None)
    frame.held.append(uses)


@hidden
def read_object(wrapper: Any, type_index: int, depth: int, read: Callable[[Any], Any]) -> Any:
    """What read() makes of the words of a wrapper's object, which is of a type (objects.expect). Nobody moves the
    object away meanwhile."""
    check_wrapper(wrapper)
    frame = take()
    try:
        use(frame, wrapper)
        return read(words_at(expect(wrapper, type_index, depth)))
    finally:
        give(frame)


def refuse_in_use() -> NoReturn:
    """RuntimeError: a call uses the handle of a wrapper."""
    raise RuntimeError("the native object cannot be moved away while a call uses it")


class Offer:
    """The handle of a wrapper while a call may take it. The callee sees a word of its own, and takes the handle by
    leaving 0 there."""

    __slots__ = ("_has_begun", "_slot", "slot_at", "wrapper")

    def __init__(self, wrapper: Any) -> None:
        self.wrapper = wrapper
        self._has_begun = False
        self._slot = new_words(1)
        self.slot_at = address_of(self._slot)

    def begin(self) -> None:
        """Take the handle out of the wrapper. Who calls this ends the offer, whatever comes of it."""
        address = take_out(self.wrapper)
        if address == -1:
            refuse_in_use()
        if not address:
            raise_no_handle(self.wrapper)
        self._slot[0] = address
        self._has_begun = True
        unlist(address, None)  # whichever wrapper is listed: what comes back is apart from it

    def take(self) -> int:
        """Take the handle, as a callee would."""
        address: int = self._slot[0]
        self._slot[0] = 0
        return address

    def put(self, address: int) -> None:
        """Give a handle back that take() took."""
        self._slot[0] = address

    def end(self) -> None:
        """Give back what was not taken."""
        address = self.take()
        if address:
            self.wrapper._ffi_address = address
        if self._has_begun:
            self._has_begun = False
            self.wrapper._ffi_uses.pop()
