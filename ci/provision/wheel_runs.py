"""The runs of ci/test that a wheel has passed: a record next to the logs, keyed by the digest of the wheel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ci.lib.folders import LOGS, locked
from ci.provision.wheel import hash_file

if TYPE_CHECKING:
    from pathlib import Path

RECORD = LOGS / "wheel_runs.json"


def note_run(wheel: Path, run: str, has_passed: bool) -> None:
    """Record the result of a run of all tests with a wheel."""
    digest = hash_file(wheel)
    with locked(RECORD.with_name(".wheel_runs.lock")):
        record = _read()
        others = [name for name in record.get(digest, []) if name != run]
        record[digest] = sorted([*others, run]) if has_passed else others
        RECORD.write_text(json.dumps(record, indent=1))


def runs_of(digest: str) -> list[str]:
    """Return the names of the runs that a wheel has passed in this checkout."""
    return _read().get(digest, [])


def _read() -> dict[str, list[str]]:
    try:
        record: dict[str, list[str]] = json.loads(RECORD.read_text())
    except (OSError, ValueError):
        return {}
    return record
