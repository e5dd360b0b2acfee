"""The words of a variable of the environment that holds a part of a command: CC, CFLAGS, LDFLAGS."""

from __future__ import annotations

import os
import shlex

from .errors import BuildError


def words_of(variable: str) -> list[str]:
    """Return the words, split as a shell splits them; none where it is not set. Raises BuildError."""
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BuildError(f"{variable} has to be words as in a shell, and is {text!r}: {error}") from None
