"""A library with named parameters, for the tests of names and signatures."""

import pytest

import ffi_hpy


@pytest.fixture(scope="module")
def library(compile_era):
    return ffi_hpy.load_module(compile_era("named_args.cc", "own"))


@pytest.fixture(scope="module")
def Counter(library):
    @ffi_hpy.register_object("named_args.Counter")
    class Counter(ffi_hpy.Object):
        pass

    return Counter
