"""What a foreign test suite is forgiven: a file with a line for each, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Allowance:
    """Tests that may fail, or skip themselves, on some interpreters."""

    interpreter: str  # a pattern for the names of rows
    test: str  # the end of its name, or a file
    reason: str

    def fits(self, test: str) -> bool:
        """Whether this is about that test."""
        return test.endswith(self.test)


def read_allowances(path: Path) -> list[Allowance]:
    """Return what the file lists: INTERPRETER-PATTERN TEST REASON, a line each; # begins a comment."""
    lines = (line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#"))
    return [Allowance(*line.split(maxsplit=2)) for line in lines]
