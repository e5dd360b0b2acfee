"""Descriptions of tensors that no memory can match: refused on every way in, and never read."""

import ctypes

import pytest
from support import IS_PYPY
from support.arrays import FLOAT32, Array, Managed, adopted, array_class, new_state

import ffi_hpy

LIB = ffi_hpy.LIB
HAS_EXCHANGE = ffi_hpy._core.HAS_EXCHANGE

BAD = {
    "no data": ({"data": None}, "Expected the memory of 6 elements but got NULL as data"),
    "no data of a scalar": ({"data": None, "shape": ()}, "Expected the memory of 1 elements but got NULL"),
    "no shape": ({"no_shape": True}, "Expected a shape of 2 dimensions but got NULL"),
    "negative ndim": ({"ndim": -1}, "ndim -1"),
    "absurd ndim": ({"ndim": 2**31 - 1}, "at most 1024 dimensions but got ndim 2147483647"),
    "negative size": ({"shape": (2, -3)}, "dimension 1 is -3"),
    "two negative sizes": ({"shape": (-2, -3)}, "dimension 0 is -2"),
    "too many elements": ({"shape": (2**62, 4)}, r"more than 2\*\*63 - 1 elements"),
    "too many bytes": ({"shape": (2**62, 1)}, "4611686018427387904 elements of 32 bits"),
    "strides that leave memory": ({"strides": (2**62, 1)}, "Expected strides that stay within memory"),
    "strides that leave it backwards": ({"strides": (-(2**57), 1)}, "Expected elements within memory"),
    "absurd offset": ({"byte_offset": 2**64 - 4}, "byte_offset 18446744073709551612"),
    "no bits": ({"dtype": (2, 0, 1)}, "got 1 lanes of 0 bits"),
    "no lanes": ({"dtype": (2, 32, 0)}, "got 0 lanes of 32 bits"),
    "scalable lanes": ({"dtype": (2, 32, 2**16 - 4)}, "got -4 lanes of 32 bits"),
}
each_bad = pytest.mark.parametrize(("how", "message"), BAD.values(), ids=BAD)
needs_exchange = pytest.mark.skipif(not HAS_EXCHANGE, reason="this interpreter's context cannot use exchange tables")


def described(cls=Array, data=..., shape=(2, 3), no_shape=False, dtype=FLOAT32, **rest):
    array = cls(shape, dtype=dtype, **rest)
    if data is None:
        array.tensor.data = None
    if no_shape:
        array.tensor.shape = ctypes.POINTER(ctypes.c_int64)()
    return array


def imported(array):
    """Return the wrapper of a tensor that the core makes, or the text of its error."""
    managed = Managed(major=1, tensor=array.tensor)
    handle = ctypes.c_void_p()
    make = LIB.TVMFFITensorFromDLPackVersioned
    make.argtypes = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)
    if make(ctypes.addressof(managed), 0, 0, ctypes.addressof(handle)) == 0:
        kept.append((array, managed))
        return adopted(handle)
    LIB.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
    return str(adopted(handle).message)


kept = []  # the memory of descriptions, kept forever


@each_bad
def test_the_core_refuses_it(how, message):
    error = imported(described(**how))
    assert isinstance(error, str)
    with pytest.raises(ValueError, match=message):
        raise ValueError(error)


@needs_exchange
@pytest.mark.thread_unsafe(reason="the behaviour of the tests' array library is set per test and thread")
@each_bad
def test_an_argument_of_an_exchange_api_is_refused(how, message):
    state = new_state()
    array = described(array_class(), **how)
    with pytest.raises(ValueError, match=message):
        ffi_hpy.convert(lambda x: pytest.fail(f"native code saw {x}"))(array)
    with pytest.raises(ValueError, match=message):
        ffi_hpy.from_dlpack(array)
    with pytest.raises(ValueError, match=message):
        ffi_hpy.Array([array])
    assert state.n_alive == 0  # the refused tensors were released


@pytest.mark.skipif(IS_PYPY, reason="PyPy's ctypes cannot call its C API")
@pytest.mark.parametrize("is_versioned", [False, True], ids=["older struct", "versioned struct"])
@each_bad
def test_a_refused_capsule_stays_with_its_owner(how, message, is_versioned):
    class Legacy(ctypes.Structure):
        _fields_ = (("tensor", type(Array().tensor)), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))

    array = described(**how)
    managed = Managed(major=1, tensor=array.tensor) if is_versioned else Legacy(tensor=array.tensor)
    name = b"dltensor_versioned" if is_versioned else b"dltensor"
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule = new(ctypes.addressof(managed), name, None)

    class Producer:
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    for source in (capsule, Producer()):
        with pytest.raises(ValueError, match=message):
            ffi_hpy.from_dlpack(source)
    assert repr(capsule).split('"')[1] == name.decode()


@needs_exchange
@pytest.mark.thread_unsafe(reason="the behaviour of the tests' array library is set per test and thread")
@pytest.mark.parametrize(
    ("how", "shape"),
    [
        ({"data": None, "shape": (0,)}, (0,)),
        ({"data": None, "shape": (3, 0, 2**40)}, (3, 0, 2**40)),
        ({"shape": (2, 3), "strides": (0, 0)}, (2, 3)),
        ({"shape": (2**40, 1), "strides": (0, 0)}, (2**40, 1)),
        ({"shape": (2, 3), "strides": (-3, -1), "byte_offset": 20}, (2, 3)),
        ({"shape": (1, 1), "strides": (2**63 - 1, -(2**63))}, (1, 1)),
    ],
    ids=["empty", "empty and huge", "repeated", "repeated often", "backwards", "strides of one element"],
)
def test_descriptions_of_possible_memory_are_accepted(how, shape):
    new_state()
    array = described(array_class(), **how)
    seen = []
    ffi_hpy.convert(lambda x: seen.append(x.shape))(array)
    assert seen == [shape]
    assert ffi_hpy.from_dlpack(array).shape == shape
    assert imported(array).shape == shape


def test_structural_functions_refuse_descriptions_that_became_absurd_later():
    one, two = described(), described()
    tensors = [imported(one), imported(two)]
    assert ffi_hpy.structural_equal(*tensors)
    assert ffi_hpy.structural_hash(tensors[0]) == ffi_hpy.structural_hash(tensors[1])
    for array in (one, two):
        array.shape[0], array.shape[1] = 2**62, 4  # zero bytes, if the product wraps around
    for ask in (lambda: ffi_hpy.structural_hash(tensors[0]), lambda: ffi_hpy.structural_equal(*tensors)):
        with pytest.raises(ValueError, match=r"more than 2\*\*63 - 1 elements"):
            ask()
    with pytest.raises(OverflowError, match="elements"):
        tensors[0].numel()
    with pytest.raises(BufferError):
        tensors[0].__dlpack__(copy=True)


class LengthlessTuple(tuple):
    __slots__ = ()

    def __len__(self):
        raise KeyError("mine")


@pytest.mark.parametrize(
    "extents", [(LengthlessTuple((6,)), (1,)), ((6,), LengthlessTuple((1,)))], ids=["shape", "strides"]
)
def test_a_view_of_a_shape_whose_length_raises(extents):
    with pytest.raises(KeyError, match="mine"):
        imported(Array((6,)))._view(*extents, 0)
