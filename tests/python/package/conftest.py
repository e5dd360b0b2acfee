"""Environments in which tests install packages."""

import pytest
from support.environments import Environment, make_wheel


@pytest.fixture
def env(tmp_path):
    return Environment(tmp_path / "env")


@pytest.fixture
def real(tmp_path):
    """A wheel with the name of the real tvm_ffi."""
    modules = {"tvm_ffi/__init__.py": "NAME = 'the real one'\n", "tvm_ffi/config.py": ""}
    return make_wheel(tmp_path, "apache-tvm-ffi", "0.1.99", modules)
