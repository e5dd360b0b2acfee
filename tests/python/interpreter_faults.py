"""Programs that show what an interpreter, or NumPy, does wrong by itself: none imports ffi_hpy.

    interpreter_faults.py NAME

Tests that leave something out because of such a fault name the program here. Each prints "fine", or what went wrong.
"""

from __future__ import annotations

import collections
import functools
import os
import resource
import signal
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def fork_children(use: Callable[[], object], n: int = 2000) -> None:
    """Children use what threads of the parent use: says which one hangs."""

    def stay_busy() -> None:
        while True:
            use()

    for _ in range(6):
        threading.Thread(target=stay_busy, daemon=True).start()
    said = "fine"
    for i in range(n):
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            use()
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            said = f"child {i} hangs"
            break
    print(said, flush=True)
    os._exit(0)


def dict_of_free_threads() -> None:
    """CPython 3.13.5 without the GIL: a dict's lock that was handed to a waiting thread stays taken in the child."""
    shared = {i: i for i in range(10)}

    def use() -> None:
        shared.get(3)
        shared[3] = 4
        shared.copy()
        shared.pop(5, 0)
        shared.setdefault(5, 1)

    fork_children(use)


def lru_cache() -> None:
    """PyPy 7.3: functools.lru_cache has a lock, which stays taken in the child."""
    answers = functools.lru_cache(maxsize=10)(str)
    fork_children(lambda: [answers(i) for i in range(20)])


def half_compared() -> None:
    """NumPy 2.0, the last one for CPython 3.9: a float16 compared with what raises when asked again is a crash."""
    import numpy

    class Raising(str):
        __slots__ = ("is_asked",)

        def __str__(self) -> str:
            if hasattr(self, "is_asked"):
                raise ValueError
            self.is_asked = True
            return "x"

    child = os.fork()
    if child == 0:
        numpy.float16(0) == Raising()  # noqa: B015 - the comparison itself
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(f"killed by {signal.Signals(status).name}" if status else "fine", flush=True)


def deque_repeated() -> None:
    """CPython: a deque that is repeated until there is no memory ends in a SystemError, without an exception."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    try:
        collections.deque([1]) * (1 << 47)
    except MemoryError:
        print("fine")
    except SystemError as error:
        print(error)


if __name__ == "__main__":
    programs = (dict_of_free_threads, lru_cache, half_compared, deque_repeated)
    {function.__name__: function for function in programs}[sys.argv[1]]()
