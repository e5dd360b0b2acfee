"""The result of a job of ci/test: one line of the table, read from the job's output."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One line of the table. A count is None if the job has no such count."""

    name: str
    outcome: str  # ok, FAILED, missing, or missing (allowed)
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    gil: str = "-"
    seconds: float = 0.0
    closing: str = ""  # the runner's last line

    @property
    def is_good(self) -> bool:
        return self.outcome in ("ok", "missing (allowed)")


def count(text: str, word: str) -> int | None:
    """Return the number in the last `NUMBER word` of a runner's output, or None."""
    found = re.findall(rf"(\d+) {word}\b", text)
    return int(found[-1]) if found else None
