"""The pytest plugin of ci/conformance, loaded in each interpreter: it keeps tests in one thread that need that.

CONFORMANCE_IN_ONE_THREAD lists the ends of names of tests that are not to run in several threads, where others do. The
plugin gives the tests nothing that ffi_hpy lacks.
"""

from __future__ import annotations

import os

import pytest

_in_one_thread = tuple(os.environ.get("CONFORMANCE_IN_ONE_THREAD", "").split())


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Before pytest-run-parallel looks at the test."""
    if item.nodeid.endswith(_in_one_thread):
        item.add_marker("thread_unsafe")
