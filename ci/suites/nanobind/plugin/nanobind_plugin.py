"""Loaded before nanobind's tests: PyPy finds bound libraries through ffi_hpy. A test that fails leaves no objects to
the next one, which counts them."""

import sys

import pytest

import ffi_hpy  # noqa: F401


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
