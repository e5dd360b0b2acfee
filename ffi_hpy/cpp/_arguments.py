"""Checks and normalises the arguments of the public functions. An invalid argument is a TypeError or ValueError."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "absolute_path",
    "check_cubins",
    "check_file_name",
    "flags",
    "folder_paths",
    "functions_with_docs",
    "source_paths",
    "texts",
]


_NOT_SEQUENCES = (bytes, bytearray, Mapping, set, frozenset)
"""Iterables that are not accepted as several strings, because the order of their items is not chosen by the caller."""


def check_file_name(parameter: str, name: Any) -> str:
    """Return the str, which must be usable as a file name in a folder: files of a build get this name."""
    if not isinstance(name, str):
        raise TypeError(f"{parameter} must be a str, got {_kind(name)}")
    if not re.fullmatch(r"\w[\w.+-]*", name):  # not all tools accept any file name
        raise ValueError(f"{parameter} must be a file's name of letters, digits, '_', '.', '+' and '-', got {name!r}")
    return name


def texts(parameter: str, given: Any) -> tuple[str, ...]:
    """Return the strings given as one str or several; none for None."""
    items = _strings(parameter, given, "a str, or a sequence of them")
    for text in items:
        _check_encodable(parameter, text)
    return items


def functions_with_docs(given: Any) -> dict[str, str]:
    """Return the names of functions, each with its documentation or ""."""
    if isinstance(given, Mapping):
        found = dict(given)
    else:
        found = dict.fromkeys(
            _strings("functions", given, "a str, a sequence of them, or a mapping to documentation"), ""
        )
    for name, doc in found.items():
        if not isinstance(name, str) or not isinstance(doc, str):
            raise TypeError(f"functions must map str to str, got {_kind(name)} to {_kind(doc)}")
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"functions must name C++ functions that need no qualification, got {name!r}")
        _check_encodable(f"functions[{name!r}]", doc)
    return found


def flags(parameter: str, given: Any) -> tuple[str, ...]:
    """Return words for a command line. A str may contain several, quoted as for a shell, but nothing is expanded."""
    if isinstance(given, str):
        raise TypeError(f"{parameter} must be a sequence of flags, got a str: [{given!r}] is one")
    words: list[str] = []
    for i, text in enumerate(_strings(parameter, given, "a sequence of str")):
        try:
            words += shlex.split(text)
        except ValueError as error:
            raise ValueError(f"{parameter}[{i}] cannot be read as words: {error}: {text!r}") from None
    return tuple(words)


def folder_paths(parameter: str, given: Any) -> tuple[str, ...]:
    """Return absolute paths; a relative path starts at the current folder."""
    if isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{parameter} must be a sequence of paths, got {_kind(given)}: [{given!r}] is one")
    return tuple(str(path) for path in _paths(parameter, given))


def absolute_path(parameter: str, path: str | os.PathLike[str]) -> Path:
    """Return the absolute path. FileNotFoundError for a relative path if the current folder no longer exists."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        message = f"{parameter}: {path} is relative, and the current folder does not exist any more"
        raise FileNotFoundError(message) from None


def source_paths(**given: Any) -> tuple[Path, ...]:
    """Return the absolute paths of all parameters, each a path or several. FileNotFoundError if a file is missing."""
    paths = [(parameter, path) for parameter, value in given.items() for path in _paths(parameter, value)]
    for parameter, path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{parameter}: the file {path} does not exist")
    if not paths:
        raise ValueError("sources must name at least one file")
    return tuple(path for _, path in paths)


def check_cubins(given: Any) -> dict[str, bytes]:
    """Return the names of CUBINs, each with its bytes."""
    if not isinstance(given, (Mapping, type(None))):
        raise TypeError(f"embed_cubin must be a mapping of names to bytes, got {_kind(given)}")
    found = dict(given or {})
    for name, content in found.items():
        if not isinstance(name, str) or not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"embed_cubin must map str to bytes, got {_kind(name)} to {_kind(content)}")
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"embed_cubin must map identifiers, got {name!r}")
    return {name: bytes(content) for name, content in found.items()}


def _paths(parameter: str, given: Any) -> list[Path]:
    if isinstance(given, (str, os.PathLike)):
        given = (given,)
    if not isinstance(given, (Iterable, type(None))) or isinstance(given, _NOT_SEQUENCES):
        raise TypeError(f"{parameter} must be paths, got {_kind(given)}")
    items = list(given or ())
    wrong = [item for item in items if not isinstance(item, (str, os.PathLike))]
    if wrong:
        raise TypeError(f"{parameter} must be paths, got {_kind(wrong[0])} among them")
    return [absolute_path(parameter, item) for item in items]


def _strings(parameter: str, given: Any, wanted: str) -> tuple[str, ...]:
    if given is None or isinstance(given, str):
        return () if given is None else (given,)
    if not isinstance(given, Iterable) or isinstance(given, _NOT_SEQUENCES):
        raise TypeError(f"{parameter} must be {wanted}, got {_kind(given)}")
    items = tuple(given)
    wrong = [item for item in items if not isinstance(item, str)]
    if wrong:
        raise TypeError(f"{parameter} must be {wanted}, got {_kind(wrong[0])} among them")
    return items


def _check_encodable(parameter: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{parameter} cannot be written as UTF-8: {error}") from None


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"
