"""The packages on PyPI that depend on apache-tvm-ffi and that `ci/clients tvm_ffi` installs and tests."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Client:
    """One package, the release of apache-tvm-ffi for its run, and its tests."""

    name: str
    version: str
    runtime: str  # a release that the package accepts; ours is installed with this version, too
    tests: tuple[str, ...]  # files or folders, in `folder` of the sdist, else in programs/
    sdist: str = ""  # `NAME==VERSION` of the sdist with the tests; "" if there is none: a program of programs/ is used
    folder: str = "tests"
    packages: tuple[str, ...] = ()  # additional requirements of the tests
    without: tuple[str, ...] = ()  # dependencies that these tests do not use; some are large
    arguments: tuple[str, ...] = ()  # for pytest
    environ: dict[str, str] = field(default_factory=dict)
    interpreters: tuple[str, ...] = ("cp311",)
    fails: dict[str, str] = field(default_factory=dict)
    """Tests that may fail on interpreters without an apache-tvm-ffi: the beginning of their name, and the reason."""
    is_quick: bool = False  # whether it is part of `ci/clients --short`


_TORCH = "torch==2.13.0+cpu"
_TVM_FFI = "apache-tvm-ffi==0.1.15.post2"

CLIENTS = (
    Client(
        "apache-tvm-ffi-orcjit",
        "0.1.3",
        "0.1.15.post2",
        (".",),
        sdist=_TVM_FFI,
        folder="addons/tvm_ffi_orcjit/tests",
        packages=("ninja",),
        interpreters=("cp311", "cp313t", "cp314t", "cp315", "pp80"),
        fails={
            "test_basic.py::test_ctor_dtor": "it wants `del` to destroy an object at once, which PyPy does not",
            "test_memory_manager.py::test_dso_handle_delta32_with_slab": "-fpie: libstdc++ is out of its reach",
        },
        is_quick=True,
    ),
    Client("apache-tvm", "0.27.0.post1", "0.1.14.post1", ("test_apache_tvm.py",), interpreters=("cp311", "cp313")),
    Client("apache-tvm-tirx", "0.1.0a4", "0.1.15.post2", ("test_apache_tvm_tirx.py",), interpreters=("cp311", "cp313")),
    Client(
        "k-dash",
        "0.1.2",
        "0.1.12",
        ("test_k_dash.py",),
        packages=("ninja",),
        interpreters=("cp311", "cp313"),
        is_quick=True,
    ),
    Client(
        "jax-tvm-ffi", "0.1.3", "0.1.15.post2", (".",), sdist="jax-tvm-ffi==0.1.3", packages=("jax==0.10.2", "ninja")
    ),
    Client(
        "xgrammar",
        "0.2.8",
        "0.1.15.post2",
        ("python",),
        sdist="xgrammar==0.2.8",
        packages=(_TORCH, "protobuf", "sentencepiece", "tiktoken"),
        without=("triton",),
        arguments=("-m", "not hf_token_required"),
        environ={"HF_HUB_OFFLINE": "1"},
    ),
    Client(
        "tilelang",
        "0.1.14",
        "0.1.12",
        ("python/arith", "python/llvm", "python/transform"),
        sdist="tilelang==0.1.14",
        folder="testing",
        packages=(_TORCH,),
    ),
    Client(
        "flashinfer-bench",
        "0.1.2",
        "0.1.15.post2",
        (".",),
        sdist="flashinfer-bench==0.1.2",
        packages=(_TORCH, "ninja", "setuptools"),
        without=("flashinfer-python",),
    ),
)
