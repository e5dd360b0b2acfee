"""The safety net itself: under hpy's debug mode, each test fails that leaves a handle open (see conftest.py)."""

import pytest
from support import IS_DEBUG

import ffi_hpy
from ffi_hpy import _core


def test_the_context_is_the_one_asked_for():
    assert _core.HAS_EXTENSION == (_core.CONTEXT_NAME == "HPy Universal ABI (ffi_hpy)")  # noqa: SIM300
    assert IS_DEBUG == (_core.CONTEXT_NAME == "HPy Debug Mode ABI")  # noqa: SIM300


@pytest.mark.skipif(not IS_DEBUG, reason="only in hpy's debug mode")
def test_handles_that_are_open_are_seen():
    from hpy.debug.leakdetector import HPyLeakError, LeakDetector

    detector = LeakDetector()

    def look(x):
        detector.stop()  # in the middle of a call, whose arguments are handles

    detector.start()
    with pytest.raises(HPyLeakError, match="unclosed handle"):
        ffi_hpy.convert(look)("a text of some length")
