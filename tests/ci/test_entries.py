"""The cache of interpreters."""

from __future__ import annotations

import pytest

from ci.lib.matrix import BY_NAME
from ci.lib.messages import Missing
from ci.provision.entries import add_entry, entries_dir


@pytest.fixture
def entries(tmp_path, monkeypatch):
    """The folder of entries, in a separate cache."""
    monkeypatch.setenv("FFI_HPY_CACHE", str(tmp_path))
    entries_dir().mkdir(parents=True)
    return entries_dir()


def refuse(staging, final):
    raise Missing("there is none")


def test_incomplete_entries_of_an_earlier_run_are_removed(entries):
    (entries / ".cp314t-12").mkdir()
    with pytest.raises(Missing, match="there is none"):
        add_entry(BY_NAME["cp314t"], refuse)
    assert list(entries.iterdir()) == []


def test_an_interpreter_whose_name_begins_alike_stays(entries):
    (entries / ".cp314t-tsan-12").mkdir()
    (entries / ".cp314t-tsan.lock").touch()
    with pytest.raises(Missing, match="there is none"):
        add_entry(BY_NAME["cp314t"], refuse)
    assert {path.name for path in entries.iterdir()} == {".cp314t-tsan-12", ".cp314t-tsan.lock"}
