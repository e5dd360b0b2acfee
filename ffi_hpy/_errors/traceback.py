"""Tracebacks: their entries, and conversion between entries and the text of native backtraces."""

from __future__ import annotations

import sys
from collections import deque
from types import FunctionType, TracebackType

from .._start.memo import remember_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

__all__ = [
    "append_backtrace",
    "backtrace_of",
    "count_callers",
    "encodable",
    "entries_of",
    "extend_traceback",
    "mark_of",
    "parse_backtrace",
    "place_of",
    "traceback_of",
]


MOST_FRAMES = 256
"""The limit for frames in the backtrace of an exception. In a deep recursion the text crosses native code at each
level, so without a limit its total length is quadratic."""


def entries_of(traceback: TracebackType | None) -> list[TracebackType]:
    """Return all entries of a traceback, outermost first."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def mark_of(entry: TracebackType | None) -> tuple[int, int]:
    """Return an identification of an entry that keeps nothing alive. Another entry may get the same one after this
    entry is gone."""
    return id(entry), id(None if entry is None else entry.tb_next)


def place_of(mark: tuple[int, int], traceback: TracebackType | None) -> int | None:
    """Return the number of entries before the entry with that mark; None if no entry has it."""
    n = 0
    while traceback is not None:
        if mark_of(traceback) == mark:
            return n
        traceback = traceback.tb_next
        n += 1
    return None


def traceback_of(entries: list[TracebackType]) -> TracebackType | None:
    """Return a traceback of copies of these entries."""
    traceback = None
    for entry in reversed(entries):
        traceback = TracebackType(traceback, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return traceback


def count_callers(entries: list[TracebackType]) -> int:
    """Return the number of entries at the end that form one chain of calls: a function, its caller, and so on."""
    n = 0
    while n < len(entries):
        frame = entries[-1 - n].tb_frame
        n += 1
        if n == len(entries) or entries[-1 - n].tb_frame not in (frame, frame.f_back):
            break
    return n


# --- traceback <-> backtrace text -----------------------------------------------------------------------------------


def encodable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot express, written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def backtrace_of(traceback: TracebackType | None, n_entries: int | None = None, called: str = "") -> str:
    """Return the frames of a traceback as backtrace text, most recent call first. With `n_entries`, only the first
    entries are used, which called the frames in the text `called`. Beyond MOST_FRAMES the outermost frames are left
    out."""
    entries: deque[TracebackType] = deque(maxlen=MOST_FRAMES)
    while traceback is not None and n_entries != 0:
        entries.append(traceback)
        traceback = traceback.tb_next
        n_entries = None if n_entries is None else n_entries - 1
    lines = called.splitlines(keepends=True)
    if called and not called.endswith("\n"):
        lines[-1] += "\n"
    for entry in reversed(entries):
        code = entry.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}\n')
    return encodable("".join(lines[:MOST_FRAMES]))


def parse_backtrace(backtrace: str) -> list[tuple[str, int, str]]:
    """Return (file, line, function) of each frame, in the text's order; other lines are skipped."""
    frames = []
    for line in backtrace.splitlines():
        head, in_file, rest = line.partition('File "')
        file, in_line, rest = rest.partition('", line ')
        number, in_function, function = rest.partition(", in ")
        if in_file and in_line and in_function and not head.strip() and number.isdecimal():
            frames.append((file, int(number), function))
    return frames


def append_backtrace(exception: BaseException, backtrace: str) -> BaseException:
    """Put the frames of a backtrace in front of the exception's traceback: they are the callers of its first frame.
    Returns the exception."""
    # The base class's method, because an exception class may refuse to set attributes
    traceback = extend_traceback(exception.__traceback__, parse_backtrace(backtrace))
    return BaseException.with_traceback(exception, traceback)


def extend_traceback(traceback: TracebackType | None, frames: list[tuple[str, int, str]]) -> TracebackType | None:
    """Return `traceback` with frames put in front of it: the callers of its first frame."""
    for file, line, function in frames:
        traceback = _traceback_new(traceback, file, line, function)
    return traceback


def _suspended_code() -> CodeType:
    """Return the code of a generator. The generator is a nested function: without the GIL other functions are left to
    the collector, and functions of ended threads are never freed (interpreter_faults.py, functions_of_threads)."""

    def suspended() -> Iterator[None]:
        yield

    return suspended.__code__


_SUSPENDED_CODE = _suspended_code()


def _traceback_new(tail: TracebackType | None, file: str, line: int, function: str) -> TracebackType:
    """Return a traceback entry for a frame that Python never ran.

    The frame belongs to a generator that was not started, with the wanted names in its code. The frame has no caller,
    so the entry keeps nothing alive and cannot be part of a reference cycle.
    """
    frame = FunctionType(_code_at(file, line, function), {})().gi_frame
    return TracebackType(tail, frame, -1, max(line, 1))


def _shown(file: str) -> str:
    """Return the file's name for tracebacks. CPython 3.9 prints no traceback at all if it tries to read a binary as
    source code."""
    is_binary = file.endswith(".so") or ".so." in file
    return f"<{file}>" if is_binary and sys.version_info < (3, 10) else file


@remember_some(256)  # errors come from the same places again and again, and without a GIL code is freed late
def _code_at(file: str, line: int, function: str) -> CodeType:
    if sys.version_info < (3, 11):
        return _SUSPENDED_CODE.replace(co_filename=_shown(file), co_name=function, co_firstlineno=line)
    # In one step: without a GIL, dropped code objects are left to the collector
    return _SUSPENDED_CODE.replace(
        co_filename=_shown(file), co_name=function, co_qualname=function, co_firstlineno=line
    )
