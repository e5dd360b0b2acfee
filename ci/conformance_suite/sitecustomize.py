"""Processes that the tests start see tvm_ffi as the tests do."""

from ffi_hpy import dropin

dropin.install()
