"""Tensor with NumPy: no copies in either direction, and refused arrays."""

import gc
import sys

import pytest
from support import IS_OVER_CFFI, IS_PYPY, run_python

import ffi_hpy
from ffi_hpy import Tensor, from_dlpack

np = pytest.importorskip("numpy")

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
]  # fmt: skip


def address_of(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("name", DTYPES)
def test_every_element_type_goes_in_and_out_without_a_copy(name):
    source = np.arange(6).reshape(2, 3).astype(name)
    tensor = from_dlpack(source)
    assert tensor.data_ptr() == address_of(source)
    assert (tensor.dtype, tensor.shape, tensor.ndim) == (name, (2, 3), 2)
    back = np.from_dlpack(tensor)
    assert address_of(back) == address_of(source)
    assert (back.dtype, back.tolist()) == (source.dtype, source.tolist())


def test_a_tensor_describes_itself():
    tensor = from_dlpack(np.zeros((2, 3, 4), dtype="float32"))
    assert tensor.shape == (2, 3, 4)
    assert tensor.strides == (12, 4, 1)
    assert (tensor.numel(), tensor.byte_offset) == (24, 0)
    assert tensor.device == ffi_hpy.device("cpu")
    assert tensor.__dlpack_device__() == (1, 0)
    assert (tensor.size(0), tensor.size(-1)) == (2, 4)
    assert tensor.is_contiguous()
    assert type(tensor.dtype) is ffi_hpy.dtype
    assert repr(tensor) == "float32[2, 3, 4]@cpu:0"


@pytest.mark.parametrize("axis", [3, -4, 2**40])
def test_the_length_of_an_axis_that_is_not_there_is_an_index_error(axis):
    with pytest.raises(IndexError, match=f"axis {axis} is out of range for a tensor of 3 axes"):
        from_dlpack(np.zeros((2, 3, 4))).size(axis)


def test_memory_is_shared_both_ways():
    source = np.zeros(3, dtype="int64")
    tensor = from_dlpack(source)
    back = np.from_dlpack(tensor)
    source[1] = 7
    assert back.tolist() == [0, 7, 0]
    if back.flags.writeable:  # older NumPy makes imported arrays read-only
        back[2] = 8
        assert source.tolist() == [0, 7, 8]


def test_an_array_passed_to_a_function_is_not_copied(testing, extension):
    source = np.arange(4, dtype="float32")
    assert extension.address_of(source) == address_of(source)
    assert extension.address_of(from_dlpack(source)) == address_of(source)
    returned = testing.echo(source)
    assert type(returned) is Tensor
    assert returned.data_ptr() == address_of(source)


def test_an_array_reaches_a_callback_as_a_tensor(testing):
    source = np.arange(4, dtype="float32")
    seen = testing.apply(lambda x: [type(x) is Tensor, x.data_ptr(), list(x.shape)], source)
    assert seen == [True, address_of(source), [4]]


def test_an_array_may_be_the_result_of_a_callback(testing):
    source = np.arange(4, dtype="float32")
    assert testing.apply(lambda: source).data_ptr() == address_of(source)


def test_tensors_in_containers_keep_their_memory(testing):
    source = np.arange(4)
    tensor = from_dlpack(source)
    assert testing.make_array_with_tensor(tensor)[0].data_ptr() == address_of(source)
    assert testing.echo({"x": [source]})["x"][0].data_ptr() == address_of(source)


def test_a_tensor_without_axes_works(testing):
    source = np.array(5.5)
    tensor = from_dlpack(source)
    assert (tensor.shape, tensor.strides, tensor.ndim, tensor.numel()) == ((), (), 0, 1)
    assert tensor.is_contiguous()
    assert np.from_dlpack(testing.echo(source)).tolist() == 5.5


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_a_tensor_without_elements_works(testing, shape):
    tensor = from_dlpack(np.zeros(shape))
    assert (tensor.shape, tensor.numel()) == (shape, 0)
    assert tensor.is_contiguous()
    assert np.from_dlpack(testing.echo(tensor)).shape == shape


def test_strides_are_in_elements(extension):
    source = np.arange(24, dtype="int16").reshape(4, 6)[::2, ::3]
    tensor = from_dlpack(source)
    assert (tensor.shape, tensor.strides) == ((2, 2), (12, 3))
    assert not tensor.is_contiguous()
    assert list(extension.strides_of(source)) == [12, 3]
    assert np.from_dlpack(tensor).tolist() == source.tolist()


def test_a_reversed_or_transposed_array_goes_in_as_it_is():
    source = np.arange(6).reshape(2, 3)
    assert from_dlpack(source.T).strides == (1, 3)
    assert np.from_dlpack(from_dlpack(source[::-1])).tolist() == [[3, 4, 5], [0, 1, 2]]


def test_contiguous_memory_can_be_demanded():
    source = np.zeros((4, 4))
    assert from_dlpack(source, require_contiguous=True).is_contiguous()
    with pytest.raises(RuntimeError, match="contiguous"):
        from_dlpack(source[:, ::2], require_contiguous=True)
    with pytest.raises(RuntimeError, match="contiguous"):
        from_dlpack(source.T, require_contiguous=True)


def test_alignment_can_be_demanded():
    memory = np.zeros(64, dtype="uint8")
    odd = memory[1 - address_of(memory) % 2 :][:8]
    assert from_dlpack(odd, require_alignment=1).data_ptr() == address_of(odd)
    with pytest.raises(RuntimeError, match="align"):
        from_dlpack(odd, require_alignment=2)
    with pytest.raises(ValueError, match="must not be negative"):
        from_dlpack(odd, require_alignment=-1)


def test_read_only_memory_is_refused(testing):
    source = np.zeros(3)
    source.flags.writeable = False
    with pytest.raises(BufferError, match=r"read-?only"):
        from_dlpack(source)
    with pytest.raises(BufferError, match=r"read-?only"):
        testing.echo(source)
    with pytest.raises(BufferError, match=r"read-?only"):
        testing.echo([1, source])


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.zeros(2, dtype="M8[s]")], ids=str)
def test_an_array_without_numbers_is_refused(testing, array):
    with pytest.raises((BufferError, TypeError), match=r"\S"):
        from_dlpack(array)
    with pytest.raises((BufferError, TypeError), match=r"\S"):
        testing.echo(array)


def test_foreign_byte_order_is_refused(testing):
    with pytest.raises(BufferError, match=r"\S"):
        testing.echo(np.zeros(2, dtype=">i4"))


@pytest.mark.parametrize("wrong", [None, 3, "text", [1.0], object()], ids=repr)
def test_from_dlpack_refuses_values_that_are_not_arrays(wrong):
    with pytest.raises(TypeError, match="expected a DLPack capsule"):
        from_dlpack(wrong)


def test_numpy_scalars_go_in_as_numbers(testing):
    assert testing.echo(np.int32(5)) == 5
    assert testing.echo(np.uint8(255)) == 255
    assert testing.echo(np.float32(1.5)) == 1.5
    assert testing.echo(np.bool_(True)) is True
    assert type(testing.echo(np.int64(5))) is int
    assert testing.echo(np.uint64(2**64 - 1)) == 2**64 - 1


# --- lifetime -------------------------------------------------------------------------------------------------------


def test_memory_lives_as_long_as_a_tensor_on_it(testing):
    tensor = from_dlpack(np.full(1000, 7, dtype="int32"))
    again = testing.echo(tensor)
    del tensor
    gc.collect()
    back = np.from_dlpack(again)
    del again
    gc.collect()
    assert back.tolist() == [7] * 1000


def test_memory_of_a_temporary_array_lives_during_the_call(testing):
    assert testing.apply(lambda x: np.from_dlpack(x).sum().item(), np.full(10000, 3, dtype="int64")) == 30000


def test_a_tensor_moves_like_any_object(testing):
    tensor = from_dlpack(np.zeros(3))
    taken = testing.echo(tensor._move())
    assert taken.shape == (3,)
    for use in (tensor.__dlpack__, tensor.numel, tensor.data_ptr, tensor.is_contiguous):
        with pytest.raises(ValueError, match="has no native object"):
            use()
    assert "chandle=None" in repr(tensor)


def test_attributes_without_a_handle_are_value_errors():
    program = """
import ffi_hpy
tensor, error = ffi_hpy.Tensor.__new__(ffi_hpy.Tensor), ffi_hpy.Error.__new__(ffi_hpy.Error)
for value, names in ((tensor, "shape strides dtype device ndim byte_offset"), (error, "kind message backtrace cause")):
    for name in names.split():
        try:
            print(name, getattr(value, name))
        except ValueError as reason:
            assert "has no native object" in str(reason), reason
print(repr(tensor), repr(error), ffi_hpy.convert([1]))
"""
    assert run_python(program) == "Tensor(chandle=None) Error(chandle=None) (1,)\n"


# --- the class ------------------------------------------------------------------------------------------------------


def test_a_tensor_is_of_the_bindings_own_class():
    """Instances of a Python class derived from it would cost more."""
    assert ffi_hpy.Tensor is ffi_hpy._core.Tensor
    assert (ffi_hpy.Tensor.__module__, ffi_hpy.Tensor.__qualname__) == ("ffi_hpy", "Tensor")
    assert ffi_hpy.Tensor.__doc__.startswith("An n-dimensional array whose memory is shared")
    if sys.implementation.name == "cpython" and not IS_OVER_CFFI:
        assert not gc.is_tracked(from_dlpack(np.zeros(3)))


def test_a_subclass_of_tensor_may_have_attributes_and_stand_for_tensors():
    program = """
import numpy, ffi_hpy
class Named(ffi_hpy.Tensor):
    def __repr__(self):
        return f"{self.name}: {super().__repr__()}"
ffi_hpy.core._set_class_tensor(Named)
arrived = []
ffi_hpy.convert(arrived.append)(numpy.arange(4))
for made in arrived:
    made.name = "mine"
    print(repr(made), type(made).__name__, made.shape, isinstance(made, ffi_hpy.Tensor))
"""
    assert run_python(program) == "mine: int64[4]@cpu:0 Named (4,) True\n"


# --- Shape ----------------------------------------------------------------------------------------------------------


def test_a_shape_is_a_tuple_of_ints(testing):
    shape = ffi_hpy.Shape((2, np.int64(3)))
    assert shape == (2, 3)
    assert isinstance(shape, tuple)
    assert testing.echo(shape) == (2, 3)
    assert testing.echo(ffi_hpy.Shape()) == ()
    for wrong in ((1.5,), ("2",), 3):
        with pytest.raises(TypeError):
            ffi_hpy.Shape(wrong)
    with pytest.raises(OverflowError, match="9223372036854775808, which is outside the range"):
        testing.echo(ffi_hpy.Shape((2**63,)))


@pytest.mark.parametrize("dtype", ["bool", "float16", "complex64", "complex128", *"bBhHiIlLqQfd"])
def test_numpy_arrays_go_in_as_their_dlpack_describes_them(testing, dtype):
    whole = np.zeros((3, 4, 5), dtype=dtype)
    for array in (whole, whole[1:, ::2, ::-1], whole[:, 1:2], whole[0, 0, 0, ...], whole[:0], whole.T, whole[::3]):
        passed, asked = testing.echo(array), ffi_hpy.from_dlpack(array)
        assert passed.dtype == asked.dtype
        assert passed.shape == asked.shape
        # NumPy itself is not consistent about the strides of axes with one item.
        steps = [(a, b) for n, a, b in zip(passed.shape, passed.strides, asked.strides) if n > 1]
        assert all(a == b for a, b in steps) or array.size == 0
        assert passed.data_ptr() == asked.data_ptr()


def test_a_numpy_array_lives_as_long_as_the_tensors_made_of_it(testing):
    class Own(np.ndarray):
        pass

    for array in (np.arange(6.0), np.arange(6.0).view(Own)):
        before = sys.getrefcount(array) if hasattr(sys, "getrefcount") else None
        kept = testing.echo(array)
        array[5] = 7
        assert np.from_dlpack(kept)[5] == 7
        del kept
        if before is not None and not IS_PYPY and not IS_OVER_CFFI:
            assert sys.getrefcount(array) == before


def test_a_stand_in_for_numpy_is_asked_for_its_memory():
    program = """
import sys, types
import ffi_hpy
from ffi_hpy.testing import echo

class ndarray:
    def __init__(self, shape=(), dtype=None):
        self.shape, self.strides, self.dtype = (), (), types.SimpleNamespace(kind="b", itemsize=1)
        self.T = self
        self.__array_interface__ = {"data": (0, 0)}

    def __getitem__(self, index):
        return self

    def __dlpack__(self, **options):
        raise BufferError("there is none")

ndarray.__module__ = "numpy"
for functions in ({}, {"zeros": ndarray}):
    sys.modules["numpy"] = types.SimpleNamespace(ndarray=ndarray, **functions)
    try:
        echo(ndarray())
    except BufferError as error:
        print(error)
"""
    assert run_python(program) == "there is none\n" * 2


def test_numpy_arrays_go_in_while_a_function_of_numpy_is_replaced():
    program = """
import numpy
from ffi_hpy.testing import echo

array = numpy.arange(3.0)
del numpy.zeros
print(echo(array).shape)
"""
    assert run_python(program) == "(3,)\n"


@pytest.mark.parametrize("dtype", [">i4", "longdouble", "U3", "datetime64[s]", [("a", "i4")], object])
def test_numpy_refuses_types_that_dlpack_does_not_know(testing, dtype):
    array = np.zeros(3, dtype=dtype)
    with pytest.raises(BufferError):
        testing.echo(array)
