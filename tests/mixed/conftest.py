"""The modules of pybind11 and nanobind, which use our headers and link our library: compiled once, then imported."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import sysconfig
from pathlib import Path

import nanobind
import pybind11
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from support.native_build import PACKAGE, Missing, compile_cxx

SOURCES = Path(__file__).resolve().parent / "native"
KINDS = ("pybind11", "nanobind")


def flags_of(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the compiler flags of a binding library, and its arguments for linking."""
    if kind == "pybind11":
        return (f"-isystem{pybind11.get_include()}", f"-DVERSION={pybind11.version_info}"), ()
    source, include = Path(nanobind.source_dir()), nanobind.include_dir()
    folders = (f"-isystem{include}", f"-isystem{source.parent / 'ext' / 'robin_map' / 'include'}")
    return (*folders, "-fno-strict-aliasing", f"-DVERSION={nanobind.__version__}"), (str(source / "nb_combined.cpp"),)


@pytest.fixture(scope="session")
def compile_module():
    """Return a function that compiles a module and returns its path. The module finds our library itself, whatever the
    order of imports."""

    def compile_one(kind: str) -> Path:
        to_compile, to_link = flags_of(kind)
        flags = [f"-isystem{sysconfig.get_path('include')}", "-fvisibility=hidden"]
        link = [*to_link, "-ltvm_ffi", f"-Wl,-rpath,{PACKAGE / 'lib'}"]
        try:
            source = str(SOURCES / f"{kind}_module.cc")
            return compile_cxx(source, PACKAGE / "include", *flags, *to_compile, link=tuple(link))
        except Missing as reason:
            pytest.fail(str(reason), pytrace=False)

    return compile_one


@pytest.fixture(scope="session", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def module(kind, compile_module):
    name = f"mixed_{kind}"
    loader = importlib.machinery.ExtensionFileLoader(name, str(compile_module(kind)))
    spec = importlib.util.spec_from_file_location(name, loader.path, loader=loader)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made
