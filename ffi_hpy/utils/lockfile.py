"""A lock between processes, for build caches."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["FileLock"]

if sys.platform == "win32":  # never run
    import msvcrt
    import time

    def _lock(descriptor: int, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
                time.sleep(0.05)
            else:
                return True

    def _unlock(descriptor: int) -> None:
        """Closing the file unlocks it."""

else:
    import fcntl

    def _lock(descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        """Unlock for processes that were forked in the meantime, too: closing alone would keep the lock until the last
        of them has closed the file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """A lock file that one process, and in it one FileLock, holds at a time; the system releases it when a process
    ends.

    As a context manager it waits for the lock. The file stays, because removing it could break a lock that another
    process is about to acquire. An object is for one thread; each thread uses its own FileLock.
    """

    def __init__(self, lock_file_path: str | os.PathLike[str]) -> None:
        self.lock_file_path = os.fspath(lock_file_path)
        self._file_descriptor: int | None = None

    def acquire(self) -> bool:
        """Acquire the lock if it is free; False if it is held, perhaps by this object. OSError if the folder does not
        exist."""
        return self._take(wait=False)

    def blocking_acquire(self, timeout: float | None = None, poll_interval: float = 0.1) -> bool:
        """Wait for the lock and acquire it; False if this object holds it already.

        With `timeout`, in seconds, it tries again every `poll_interval` seconds, and raises TimeoutError after that
        time.
        """
        if timeout is None or self._file_descriptor is not None:
            return self._take(wait=True)
        from time import monotonic, sleep

        until = monotonic() + timeout
        while not self.acquire():
            if monotonic() > until:
                raise TimeoutError(f"the lock {self.lock_file_path!r} was not free within {timeout} seconds")
            sleep(poll_interval)
        return True

    def release(self) -> None:
        """Release the lock; does nothing if the lock is not held."""
        if self._file_descriptor is not None:
            descriptor, self._file_descriptor = self._file_descriptor, None
            try:
                _unlock(descriptor)
            finally:
                os.close(descriptor)

    def _take(self, wait: bool) -> bool:
        if self._file_descriptor is not None:
            return False
        descriptor = os.open(self.lock_file_path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            is_taken = _lock(descriptor, wait)
        except BaseException:
            os.close(descriptor)
            raise
        if not is_taken:
            os.close(descriptor)
            return False
        self._file_descriptor = descriptor
        return True

    def __enter__(self) -> FileLock:
        if not self.blocking_acquire():
            raise RuntimeError(f"this FileLock of {self.lock_file_path} is held already; threads need one each")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
