"""A user's program for vocab, input of type checkers: `mypy --strict` must report no error.

Each deliberate error has a comment with its error code: if mypy misses that error, it reports the unused comment.
"""

from __future__ import annotations

from typing import assert_type

from vocab import Vocabulary, split

from ffi_hpy import Array


def numbers_of(text: str) -> list[int]:
    known = Vocabulary()
    return [known.add(word) for word in split(text)]


assert_type(split("a b"), Array[str])
assert_type(Vocabulary().find("a"), int | None)
assert_type(Vocabulary().words, Array[str])

split(1)  # type: ignore[arg-type]
Vocabulary().words = split("a")  # type: ignore[misc]
1 + Vocabulary().find("a")  # type: ignore[operator]
