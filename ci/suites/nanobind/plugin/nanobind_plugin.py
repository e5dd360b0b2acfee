"""Loaded before nanobind's tests: PyPy finds bound libraries through ffi_hpy."""

import ffi_hpy  # noqa: F401
