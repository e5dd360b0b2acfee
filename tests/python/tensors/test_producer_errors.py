"""from_dlpack and calls raise the exception of a producer's __dlpack__. Only one test needs NumPy."""

import sys

import pytest
from support import run_python

from ffi_hpy import _core, from_dlpack


@pytest.mark.parametrize("kind", [ZeroDivisionError, MemoryError, RecursionError, TimeoutError, KeyboardInterrupt])
def test_an_error_of_a_producer_comes_out_and_it_is_not_asked_again(testing, kind):
    class Broken:
        n_asked = 0

        def __dlpack__(self, **options):
            self.n_asked += 1
            raise kind("broken producer")

    for use in (testing.echo, from_dlpack, lambda x: testing.echo([x])):
        broken = Broken()
        with pytest.raises(kind, match="broken producer"):
            use(broken)
        assert broken.n_asked == 1


@pytest.mark.skipif(
    getattr(sys, "pypy_version_info", (8,)) < (8,), reason="PyPy 7.3 may abort where its stack ends in a method of HPy"
)
def test_a_producer_that_asks_for_itself_is_a_recursion_error(testing):
    class Endless:
        def __dlpack__(self, **options):
            return use(self)

    for use in (testing.echo, from_dlpack):
        with pytest.raises(RecursionError):
            use(Endless())


# --- TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API -------------------------------------------------------------------------------


def test_tables_can_be_switched_off():
    program = """
import ffi_hpy
class Array:
    __dlpack_c_exchange_api__ = getattr(ffi_hpy.Tensor, "__dlpack_c_exchange_api__", object())
    def __dlpack__(self, **options):
        raise LookupError
for use in (ffi_hpy.convert(lambda x: None), ffi_hpy.from_dlpack):
    try:
        use(Array())
    except (LookupError, AttributeError) as error:
        print(type(error).__name__)
"""
    assert run_python(program, environ={"TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API": "1"}) == "LookupError\nLookupError\n"
    error = "AttributeError" if _core.HAS_EXCHANGE else "LookupError"
    assert run_python(program) == f"{error}\n{error}\n"


@pytest.mark.parametrize("switch", ["0", "1"])
def test_arrays_of_numpy_share_their_memory_with_and_without_tables(switch):
    pytest.importorskip("numpy")
    program = """
import ffi_hpy, numpy
array = numpy.arange(3.0)
echo = ffi_hpy.convert(lambda x: x)
for found in (echo(array), echo([array])[0], ffi_hpy.from_dlpack(array)):
    print(numpy.shares_memory(numpy.from_dlpack(found), array))
"""
    environ = {"TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API": switch}
    assert run_python(program, environ=environ) == "True\nTrue\nTrue\n"
