"""The paths of the checkout, the logs and the cache; and lock files that keep two runs apart."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterator

CI = Path(__file__).resolve().parents[1]
ROOT = CI.parent
REQUIREMENTS = CI / "requirements"
LOGS = ROOT / "build" / "test-logs"


def cache_dir() -> Path:
    """Return the folder for downloads and builds of the commands; it may not exist yet."""
    chosen = os.environ.get("FFI_HPY_CACHE")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "ffi_hpy"


_of_threads: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; the system releases the lock when the process ends.

    Threads of this process wait for each other silently.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _of_threads[path], path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run, which holds {path}")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
