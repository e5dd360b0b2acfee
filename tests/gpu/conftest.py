"""The fixture that builds the libraries of these tests."""

from __future__ import annotations

import pytest

from ffi_hpy import cpp


@pytest.fixture(scope="session")
def load_cuda(tmp_path_factory):
    """Build and load a library of CUDA sources; without nvcc, skip the test."""

    def load(name, source, **options):
        try:
            return cpp.load_inline(name, cuda_sources=source, build_directory=tmp_path_factory.mktemp(name), **options)
        except cpp.BuildError as reason:
            if "nvcc, which compiles .cu files, is missing" in str(reason):
                pytest.skip("needs nvcc")
            raise

    return load
