"""Searches for the fewest calls that still show a fault."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def fewest(last: int, shows: Callable[[list[int]], bool], seconds: float) -> list[int]:
    """Return some calls up to `last`, in order, that show the fault; an empty list if the fault does not reappear. Ends
    after about `seconds`."""
    until = time.monotonic() + seconds
    n, calls = 1, []
    while True:  # the last call alone, or with more and more earlier calls
        calls = list(range(max(0, last + 1 - n), last + 1))
        if shows(calls):
            break
        if n > last or time.monotonic() > until:
            return []
        n *= 8
    size = len(calls) // 2
    while size >= 1 and time.monotonic() < until:
        start = 0
        while start < len(calls) - 1 and time.monotonic() < until:
            fewer = calls[:start] + calls[start + size :]
            if fewer and fewer[-1:] == calls[-1:] and shows(fewer):
                calls = fewer
            else:
                start += size
        size //= 2
    return calls
