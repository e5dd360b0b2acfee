"""The words of an environment variable that contains a part of a command: CC, CFLAGS, LDFLAGS."""

from __future__ import annotations

import os
import shlex

from .errors import BuildError


def words_of(variable: str) -> list[str]:
    """Return the words, split as by a shell; none if the variable is unset. Raises BuildError."""
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BuildError(f"{variable} has to be words as in a shell, and is {text!r}: {error}") from None
