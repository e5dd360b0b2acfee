"""What a job of ci/test gives: one line of the table, read from the output of what it ran."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One line of the table. Counts are None where there are none to give."""

    name: str
    outcome: str  # ok, FAILED, missing, or missing (allowed)
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    gil: str = "-"
    seconds: float = 0.0
    closing: str = ""  # the runner's last words

    @property
    def is_good(self) -> bool:
        return self.outcome in ("ok", "missing (allowed)")


def count(text: str, word: str) -> int | None:
    """Return the number in the last `NUMBER word` of a runner's output, if it says one."""
    found = re.findall(rf"(\d+) {word}\b", text)
    return int(found[-1]) if found else None
