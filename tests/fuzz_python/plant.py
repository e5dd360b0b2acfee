"""Planted faults, to test that the fuzzer finds them."""

from __future__ import annotations

import ctypes
import os
import time

from surface import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def crash(*args: Any) -> None:
    ctypes.string_at(8)


def hang(*args: Any) -> None:
    while True:
        time.sleep(1)


def spin(*args: Any) -> None:
    while True:
        pass


def system_error(*args: Any) -> None:
    raise SystemError("planted")


def memory_error(*args: Any) -> None:
    raise MemoryError("planted")


def no_exception(*args: Any) -> None:
    raise KeyboardInterrupt("planted")


def abort(*args: Any) -> None:
    os.abort()


def leave(*args: Any) -> None:
    os._exit(7)


def planted(name: str) -> Target:
    """Return the target with that fault."""
    return Target(f"planted {name}", globals()[name])
