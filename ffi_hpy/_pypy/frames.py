"""Memory for the arguments and the result of a call: a pool of frames, one for each call in progress.

A frame belongs to one call, so that neither threads nor nested calls share memory.
"""

from __future__ import annotations

from .backend import address_of, buffer_at, core, doubles_at, new_words
from .holds import drain, waiting
from .identity import unlist
from .objects import raise_no_handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["N_ARGUMENTS", "TEXT_BYTES", "Frame", "Offer", "frame_for", "give", "is_held", "take"]

N_ARGUMENTS = 16
"""So many arguments fit into a frame of the pool."""
TEXT_BYTES = 1024
"""Text up to this length needs no memory of its own on its way."""

_pool: list[Frame] = []  # append and pop are atomic
_all: list[Frame] = []  # those of the pool, and of calls in progress that have more arguments


class Frame:
    """The memory of a call: `words` has its arguments, two words each; `doubles` is the same memory. `result` points to
    the words of its result, `spare` to two more, for a TVMFFIByteArray.

    `text` is room for TEXT_BYTES bytes, at the address `text_at`. `held` are the wrappers whose objects the call uses,
    the offers of handles, and the handles that are released when it has ended.
    """

    __slots__ = ("doubles", "held", "result", "result_at", "spare", "text", "text_at", "words")

    def __init__(self, n_arguments: int) -> None:
        n_words = 2 * n_arguments + 4
        self.words: Any = new_words(n_words + TEXT_BYTES // 8)
        self.doubles: Any = doubles_at(self.words)
        self.result_at = 2 * n_arguments
        self.result: Any = self.words + self.result_at
        self.spare: Any = self.result + 2
        self.text: Any = buffer_at(self.words + n_words, TEXT_BYTES)
        self.text_at = address_of(self.words + n_words)
        self.held: list[Any] = []

    def release(self) -> None:
        """End what is held, the last first."""
        held = self.held
        if held:  # three times: the JIT compiles what has no loop into the caller
            _end(held.pop())
            if held:
                _end(held.pop())
                if held:
                    _end(held.pop())
                    if held:
                        self._release_more()

    def _release_more(self) -> None:
        held = self.held
        while held:
            _end(held.pop())


def _end(held: Any) -> None:
    """End the use of what a frame has held."""
    if type(held) is int:
        core.decref(held)
    elif type(held) is Offer:
        held.end()


def take() -> Frame:
    """A frame for N_ARGUMENTS that nobody else uses."""
    if waiting[0]:
        drain()
    try:
        return _pool.pop()
    except IndexError:
        frame = Frame(N_ARGUMENTS)
        _all.append(frame)
        return frame


def frame_for(n_arguments: int) -> Frame:
    """A frame for that many arguments."""
    if n_arguments <= N_ARGUMENTS:
        return take()
    frame = Frame(n_arguments)
    _all.append(frame)
    return frame


def give(frame: Frame) -> None:
    """End the use of a frame."""
    if frame.held:
        frame.release()
    if frame.result_at == 2 * N_ARGUMENTS:
        _pool.append(frame)
    else:
        _all.remove(frame)


def is_held(wrapper: object) -> bool:
    """Whether a call in progress uses the object of a wrapper."""
    for frame in list(_all):
        for held in list(frame.held):
            if held is wrapper:
                return True
    return False


def _is_offered(wrapper: object) -> bool:
    """Whether the handle of a wrapper is offered to a call in progress."""
    return any(type(held) is Offer and held.wrapper is wrapper for frame in list(_all) for held in list(frame.held))


def _refuse_in_use() -> NoReturn:
    raise RuntimeError("the native object cannot be moved away while a call uses it")


class Offer:
    """The handle of a wrapper while a call may take it. The callee sees a word of its own, and takes the handle by
    leaving 0 there."""

    __slots__ = ("_slot", "slot_at", "wrapper")

    def __init__(self, wrapper: Any) -> None:
        address = wrapper._address
        if not address:
            if _is_offered(wrapper):
                _refuse_in_use()
            raise_no_handle(wrapper)
        wrapper._address = 0  # whoever begins a use from now on finds none
        if is_held(wrapper):
            wrapper._address = address
            _refuse_in_use()
        if wrapper._is_listed:  # what comes back is apart from this wrapper
            unlist(address, None)
        self.wrapper = wrapper
        self._slot = new_words(1)
        self._slot[0] = address
        self.slot_at = address_of(self._slot)

    def take(self) -> int:
        """Take the handle, as a callee would."""
        address: int = self._slot[0]
        self._slot[0] = 0
        return address

    def end(self) -> None:
        """Give back what was not taken."""
        self.wrapper._address = self.take()
