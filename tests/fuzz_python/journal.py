"""A worker's record before each call, in a file that outlives the worker."""

from __future__ import annotations

import mmap
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_HEAD = struct.Struct("=qq")  # number of the current call, and number of lines written so far
_LINE_BYTES = 480
_N_LINES = 64
_BYTES = _HEAD.size + _N_LINES * _LINE_BYTES


def journal_path(path: Path, number: int) -> Path:
    """Return the path of a thread's journal; the first thread's is `path`."""
    return path.with_name(f"{path.name}.{number}") if number else path


class Journal:
    """The writing end. The lines survive any end of the process, because the file is mapped."""

    def __init__(self, path: Path) -> None:
        with path.open("w+b") as stream:
            stream.truncate(_BYTES)
            self._map = mmap.mmap(stream.fileno(), _BYTES)
        self.call = -1
        self._n_lines = 0

    def begin(self, call: int) -> None:
        """Record the start of a call. No details are known yet."""
        self.call = call
        _HEAD.pack_into(self._map, 0, call, self._n_lines)

    def write(self, text: str) -> None:
        """Add a line to the current call."""
        line = f"{self.call}: {text}".encode("ascii", "backslashreplace")[:_LINE_BYTES]
        start = _HEAD.size + self._n_lines % _N_LINES * _LINE_BYTES
        self._map[start : start + _LINE_BYTES] = line.ljust(_LINE_BYTES)
        self._n_lines += 1
        _HEAD.pack_into(self._map, 0, self.call, self._n_lines)


class Reader:
    """The reading end, in another process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def call(self) -> int:
        """The number of the current or last call; -1 before the first."""
        head = self._head()
        return head[0] if head else -1

    def lines(self) -> list[str]:
        """The last lines, the oldest first."""
        head = self._head()
        if head is None:
            return []
        data, n_lines = self._path.read_bytes(), head[1]
        starts = (_HEAD.size + n % _N_LINES * _LINE_BYTES for n in range(max(0, n_lines - _N_LINES), n_lines))
        return [data[start : start + _LINE_BYTES].decode("ascii", "replace").rstrip() for start in starts]

    def _head(self) -> tuple[int, int] | None:
        try:
            with self._path.open("rb") as stream:
                head = stream.read(_HEAD.size)
        except FileNotFoundError:
            return None
        return _HEAD.unpack(head) if len(head) == _HEAD.size else None  # type: ignore[return-value]
