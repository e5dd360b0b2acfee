"""The fixture `hpy_debug` for pytest: `from hpy.debug.pytest import hpy_debug` in a conftest.py."""

from __future__ import annotations

import pytest

from .leakdetector import LeakDetector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["hpy_debug"]


@pytest.fixture
def hpy_debug() -> Iterator[LeakDetector]:
    """Fails a test that leaves handles open in modules that run in debug mode."""
    with LeakDetector() as detector:
        yield detector
