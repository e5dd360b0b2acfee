"""The pytest plugin of ci/conformance, loaded in each interpreter: it runs some tests in one thread only.

CONFORMANCE_IN_ONE_THREAD lists the ends of the names of these tests. The plugin does not give the tests anything that
ffi_hpy lacks.
"""

from __future__ import annotations

import os

import pytest

_in_one_thread = tuple(os.environ.get("CONFORMANCE_IN_ONE_THREAD", "").split())


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the test before pytest-run-parallel looks at it."""
    if item.nodeid.endswith(_in_one_thread):
        item.add_marker("thread_unsafe")
