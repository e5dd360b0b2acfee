"""Python objects that native code owns, and their release.

Each has a number, which native code stores in a block that the C binding allocates (src/hpy_module/context/drop.h).
Native code may release an object on any thread and in any state; the block then waits (deferred decref) until a call
here asks for it.
"""

from __future__ import annotations

from itertools import count

from .backend import c_function, core, words_at
from .binding import RUNS_TO_THE_END, binding
from .hidden import hidden
from .signals import interruptions, keep, raise_interruption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CALL_AT",
    "DROP_AT",
    "StandIn",
    "drain",
    "drop",
    "end_at",
    "end_waiting",
    "finish",
    "free_block",
    "n_owned",
    "owned",
    "owned_at",
    "owner_new",
    "put_error",
    "take_error",
    "waiting",
    "weak_end",
    "weak_new",
]

owned: list[Any] = [None]
"""The objects, by number. Not a dict: PyPy's dict keeps removed objects alive after it has compacted its entries."""
_unused: list[int] = []  # free numbers below the next of _numbers; append and pop are atomic
_numbers = count()
CALL_AT: int
DROP_AT: int
CALL_AT, DROP_AT, _new_at, _next_at, _free_at, _put_error_at, _take_error_at, _end_at, *_weak_at, _first_at = (
    binding.start_cffi_backend(0, 0, 0, RUNS_TO_THE_END)
)
"""CALL_AT is the safe_call of callbacks, DROP_AT the deleter of the Python objects that native code owns."""
put_error = c_function(_put_error_at, "w", "w")
"""Make the exception in a block the pending error of this thread; not 0 if this core does not take exceptions."""
take_error = c_function(_take_error_at, "w", "w")
"""Take the pending error: return the block of an exception, or 0, and store an error's handle in the word at the given
pointer."""
end_at = c_function(_end_at, "w", "w")
"""Release the reference in the word at a pointer and set it to 0. Further calls have no effect."""
weak_new, weak_end = (c_function(at, "w", "w") for at in _weak_at)
"""Take and release a weak reference to a native object."""
_push_block = c_function(DROP_AT, "w", "")
_new_block = c_function(_new_at, "ww", "w")
_next_block = c_function(_next_at, "", "w")
free_block = c_function(_free_at, "w", "")
waiting = words_at(_first_at)
"""The first word is not 0 if blocks wait for drain()."""

_NUMBER, _OBJECT = 0, 1  # FbDeferredKind


def owner_new(value: Any) -> int:
    """Return the pointer to a block for an object, which is kept until native code calls the function at DROP_AT with
    the block."""
    try:
        number = _unused.pop()
    except IndexError:
        number = next(_numbers)
        while len(owned) <= number:
            owned.append(None)
    block: int = _new_block(number, _NUMBER)
    if not block:
        _unused.append(number)
        raise MemoryError
    owned[number] = value
    return block


def _forget(number: int) -> None:
    owned[number] = None
    _unused.append(number)


class StandIn:
    """Takes an object's place in `owned` while a search for cycles shows the references behind it to the collector."""

    __slots__ = ("_node",)

    def __init__(self, node: Any) -> None:
        self._node = node

    def value(self) -> Any:
        """The object, None if it is garbage."""
        node = self._node()
        return None if node is None else node.value

    @hidden
    def __call__(self, *args: Any) -> Any:
        """Call the object, as its native function does."""
        return self.value()(*args)


def n_owned() -> int:
    """Return about how many objects native code owns."""
    return len(owned) - len(_unused)


def owned_at(block: int) -> Any:
    """Return the object of a block."""
    value = owned[words_at(block)[1]]
    return value.value() if type(value) is StandIn else value


def drop(block: int) -> None:
    """Release an object whose block native code does not have."""
    _forget(words_at(block)[1])
    free_block(block)


def drain() -> None:
    """Run the deferred decrefs, and raise the exception that a finalizer has kept for this thread."""
    end_waiting()
    raise_interruption()


def end_waiting() -> None:
    """Run the deferred decrefs one by one: after an interruption by a signal the rest still waits."""
    block = _next_block()
    while block:
        words = words_at(block)
        word, kind = words[1], words[2]
        free_block(block)
        if kind == _OBJECT:
            core.decref(word)
        else:
            _forget(word)
        block = _next_block()
    if interruptions:
        _wake()


def _wake() -> None:
    """Make the next use of native code call drain()."""
    _push_block(owner_new(None))


_MOST_TRIES = 100


def finish(end: Callable[[Any], None], owner: Any, interruption: BaseException) -> None:
    """Call end(owner) again after a signal interrupted it in a finalizer. The signal handler's exception is kept for
    the next use of native code."""
    if _MOST_TRIES is None:  # CPython has cleared this module: the process ends, which releases everything
        return
    for _ in range(_MOST_TRIES):
        if isinstance(interruption, (RecursionError, MemoryError)):
            break
        try:
            keep(interruption)
            _wake()
            end(owner)
        except BaseException as other:
            interruption = other
        else:
            return
    raise interruption
