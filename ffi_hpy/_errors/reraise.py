"""The passages of an exception through native code: finds the entries of its traceback that belong to the last passage.

A program may raise one exception object again and again. Each time Python puts the entries of the new passage in front
of the traceback that the exception already has, so the traceback would grow without limit. To prevent that, an
exception records the state of its traceback when it leaves native code. When it leaves a callback again, all passages
except the last are removed from the traceback.
"""

from __future__ import annotations

from .traceback import count_callers, entries_of, mark_of, place_of, traceback_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    Way = tuple[int, tuple[int, int], Optional[int]]
    """The moment at which native code raised the exception; the mark of the first entry of its traceback at that time;
    and the number of entries that belong to that passage, None for all. A mark rather than the entry, because the
    exception must not own an object that may own the exception."""

__all__ = ["arrive", "leave"]

_NAME = "__tvm_ffi_way__"


def arrive(exception: BaseException, moment: int | None, n_native: int = 0) -> None:
    """Record that native code raises the exception at a moment, with `n_native` native entries in front of the
    traceback. Without a moment the exception is created but not raised."""
    names = exception.__dict__
    if moment is None:
        names.pop(_NAME, None)
        return
    way: Way | None = names.get(_NAME)
    n_entries = None if way is None or way[2] is None else way[2] + n_native
    names[_NAME] = (moment, mark_of(exception.__traceback__), n_entries)


def leave(exception: BaseException, began: int) -> int | None:
    """Record that the exception leaves a callback, which began at a moment.

    If native code raised the exception in this callback, it is still on the same passage: returns the number of entries
    that the traceback has gained in front since then. Otherwise returns None, and the traceback keeps the last passage
    and loses the earlier ones.
    """
    names = exception.__dict__
    way: Way | None = names.get(_NAME)
    if way is None:
        return None
    moment, mark, n_entries = way
    traceback = exception.__traceback__
    n_before = place_of(mark, traceback)
    if n_before is None:  # the traceback was removed or replaced: all of it belongs to this passage
        names.pop(_NAME, None)
        return None
    if moment > began:
        if n_entries is not None:
            names[_NAME] = (moment, mark, n_entries + n_before)
        return n_before
    entries = entries_of(traceback)
    n_kept = len(entries) if n_entries is None else n_before + n_entries
    names[_NAME] = (moment, mark, n_before - count_callers(entries[:n_before]))
    if len(entries) > n_kept:
        BaseException.with_traceback(exception, traceback_of(entries[:n_kept]))
    return None
