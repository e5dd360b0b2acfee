"""A program for k-dash, whose wheel has no tests: it loads a kernel built for the version that k-dash pins."""

import importlib.metadata
import json
import shutil
from pathlib import Path

import k_dash
import pytest
import tvm_ffi.cpp
from k_dash import api
from k_dash.errors import ArtifactIntegrityError
from k_dash.target import explicit_target
from k_dash.validation import dynamic_dependencies

SOURCE = "int64_t twice(int64_t x) { return 2 * x; }"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    return tvm_ffi.cpp.build_inline("kernel", cpp_sources=SOURCE, functions=["twice"], build_directory=str(folder))


def load(kernel, tmp_path, monkeypatch, version):
    path = tmp_path / "kernel.so"
    shutil.copy(kernel, path)
    target = explicit_target("12.8", "sm_90a", tvm_ffi=version)
    config = {"buildspec": {"target": target.as_dict()}}
    (tmp_path / "config.json").write_text(json.dumps({**config, "host_dependencies": [], "cxx_runtime": None}))
    monkeypatch.setattr(api, "get", lambda *_, **__: path)
    return k_dash.load("kernel", version="1")


def test_a_kernel_is_loaded(kernel, tmp_path, monkeypatch):
    version = importlib.metadata.version("apache-tvm-ffi")
    assert load(kernel, tmp_path, monkeypatch, version).twice(21) == 42


def test_a_kernel_for_another_version_is_refused(kernel, tmp_path, monkeypatch):
    with pytest.raises(ArtifactIntegrityError, match="version"):
        load(kernel, tmp_path, monkeypatch, "0.1.11")


def test_a_kernel_needs_the_runtime(kernel):
    assert "libtvm_ffi.so" in dynamic_dependencies(Path(kernel).read_bytes())
