"""Functions made from the address of a C function."""

import ctypes
import weakref

import pytest
from support import is_gone
from support.native_build import PACKAGE, Missing, compile_c

import ffi_hpy
from ffi_hpy import Function, _core


@pytest.fixture(scope="session")
def mlir_sum():
    """Address of the function in native/mlir.c."""
    try:
        library = ctypes.CDLL(str(compile_c("mlir.c", PACKAGE / "include")))
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)
    yield address_of(library, "mlir_sum")
    del library


@pytest.fixture
def plain_sum(plain_path):
    """Address of a function with the ABI's own signature."""
    library = ctypes.CDLL(str(plain_path))
    yield address_of(library, "__tvm_ffi_sum")
    del library


def address_of(library, name):
    """Return the address of a function; it is valid as long as the library: PyPy closes the library with its last
    reference."""
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def test_both_shapes_are_called_alike(plain_sum, mlir_sum):
    for function in (Function.__from_extern_c__(plain_sum), Function.__from_mlir_packed_safe_call__(mlir_sum)):
        assert isinstance(function, Function)
        assert function() == 0
        assert function(1, 2, 39) == 42
        with pytest.raises(TypeError, match="wants ints"):
            function(1, "x")
        assert function(1) == 1


class Owner:
    pass


def test_the_object_to_keep_alive_lives_as_long_as_the_function(plain_sum, mlir_sum):
    for make, address in ((Function.__from_extern_c__, plain_sum), (Function.__from_mlir_packed_safe_call__, mlir_sum)):
        owner = Owner()
        ref = weakref.ref(owner)
        function = make(address, keep_alive_object=owner)
        del owner
        assert ref() is not None
        copy = ffi_hpy.Array([function])[0]
        del function
        assert copy(2, 3) == 5
        assert ref() is not None
        del copy
        assert is_gone(ref)


@pytest.mark.parametrize("make", [Function.__from_extern_c__, Function.__from_mlir_packed_safe_call__])
def test_a_value_that_is_not_an_address_is_refused(make):
    with pytest.raises(ValueError, match="must not be 0"):
        make(0)
    with pytest.raises(TypeError):
        make("not an address")
    with pytest.raises(TypeError):
        make()


def test_the_number_of_arguments_is_checked():
    with pytest.raises(TypeError, match="keep_alive"):
        _core.function_from_mlir()
    with pytest.raises(TypeError, match="keep_alive"):
        _core.function_from_address(1, None, 0, 0)
