"""Fields whose memory layout differs from their declaration, and views without memory."""

import pytest
from support.native_build import Missing, compile_cxx

import ffi_hpy


@pytest.fixture(scope="module")
def odd(upstream):
    """The library compiled from native/odd_fields.cc."""
    try:
        return ffi_hpy.load_module(compile_cxx("odd_fields.cc", upstream / "tvm_ffi" / "include"))
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


def test_a_number_is_the_getter_s_result_whatever_is_in_memory(odd):
    first, second = odd.make_odd(), odd.make_odd()
    for one in (first, second, first):
        assert (one.boxed, one.level, one.plain) == (7, 20, 3)


def test_a_view_of_no_bytes_is_an_empty_bytes_object(odd):
    seen = []
    odd.give_no_bytes(seen.append)
    assert seen == [b""]
