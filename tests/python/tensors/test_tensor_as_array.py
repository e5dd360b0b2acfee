"""A tensor is an array: the buffer protocol, NumPy, items, copies, pickles, and the interface for GPUs."""

import copy
import ctypes
import gc
import io
import math
import operator
import pickle
import sys
import threading

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_PYPY, is_gone, needs_buffers
from support.arrays import FLOAT32, Array, Managed, adopted

import ffi_hpy
from ffi_hpy import Tensor, from_dlpack
from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

INT32 = (0, 32, 1)
CPU, CUDA = (1, 0), (2, 1)
needs_numpy = pytest.mark.skipif(np is None, reason="NumPy has no wheel for this interpreter")
NAMES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def make(shape=(2, 3), strides=None, dtype=FLOAT32, device=CPU, n=12):
    """Return a tensor on the numbers 0, 1, 2, ..., and the memory."""
    owner = {FLOAT32: ctypes.c_float, INT32: ctypes.c_int32}.get(dtype, ctypes.c_uint16)
    memory = (owner * n)(*range(n))
    if strides is None:
        strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    address = ctypes.addressof(memory)
    capsule = ffi_hpy._core.memory_capsule(memory, address, shape, strides, dtype, device, False)
    return from_dlpack(capsule), memory


def make_read_only():
    """Return a tensor that native code has declared read-only."""
    array = Array((2, 3))
    managed = Managed(major=1, flags=1, tensor=array.tensor)
    handle = ctypes.c_void_p()
    assert ffi_hpy.LIB.TVMFFITensorFromDLPackVersioned(ctypes.byref(managed), 0, 0, ctypes.byref(handle)) == 0
    kept.append((array, managed))
    return adopted(handle)


kept = []  # the memory of these tensors, kept forever: PyPy may end it before the tensor


def rows_of(tensor):
    return [rows_of(each) for each in tensor] if isinstance(tensor, Tensor) and tensor.ndim else tensor


# --- the buffer protocol ----------------------------------------------------------------------------------------------


@needs_buffers
def test_a_memoryview_shows_the_memory():
    tensor, memory = make()
    view = memoryview(tensor)
    assert (view.format, view.shape, view.strides, view.nbytes, view.readonly) == ("f", (2, 3), (12, 4), 24, False)
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    view[1, 2] = 7
    assert memory[5] == 7
    assert bytes(tensor) == bytes(memory)[:24]
    assert memoryview(make((), dtype=INT32)[0])[()] == 0


@needs_buffers
def test_a_memoryview_has_the_strides_of_the_tensor():
    view = memoryview(make((2, 2), (6, 2))[0])
    assert (view.tolist(), view.contiguous) == ([[0, 2], [6, 8]], False)
    assert memoryview(make((3, 2), (1, 3))[0]).f_contiguous
    if not IS_PYPY:  # interpreter_faults.py: strided_bytes
        assert list(memoryview(view.tobytes()).cast("f")) == [0, 2, 6, 8]


@needs_buffers
def test_a_memoryview_keeps_the_memory_of_a_tensor_that_was_moved_away():
    tensor, memory = make()
    alive = ctypes.addressof(memory)
    view = memoryview(tensor)
    ffi_hpy.convert(lambda x: None)(tensor._move())
    del tensor, memory
    gc.collect()
    assert view[0, 1] == 1
    assert alive


@needs_buffers
def test_a_buffer_is_given_only_where_it_can_be():
    for tensor, reason in (
        (make(device=CUDA)[0], "copy it to the CPU"),
        (make(dtype=(4, 16, 1))[0], "no buffer format"),
        (make(dtype=(2, 16, 2))[0], "no buffer format"),
    ):
        with pytest.raises(BufferError, match=reason):
            memoryview(tensor)
    with pytest.raises((BufferError, TypeError), match=r"contiguous|read-write"):
        io.BytesIO(b"12").readinto(make((2, 2), (6, 2))[0])  # it does not read strides


def test_read_only_memory_stays_read_only():
    tensor = make_read_only()
    for each in (tensor, tensor[1], tensor[...], tensor[:, ::2]):
        if np is not None:
            for array in (np.asarray(each), each.__array__()):
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 1
            assert each.__array__(copy=True).flags.writeable
        if not (IS_CFFI_ON_CPYTHON and sys.version_info < (3, 12)):
            assert memoryview(each).readonly
            with pytest.raises((BufferError, TypeError), match=r"read-(only|write)|contiguous"):
                io.BytesIO(b"12").readinto(each)
    assert rows_of(copy.copy(tensor)) == [[0, 1, 2], [3, 4, 5]]
    assert copy.copy(tensor).__dlpack__()  # the older form has no read-only memory


# --- items ------------------------------------------------------------------------------------------------------------


def test_an_index_selects_a_part_on_the_same_memory():
    tensor, memory = make((2, 3))
    assert len(tensor) == 2
    assert rows_of(tensor) == [[0, 1, 2], [3, 4, 5]]
    assert (tensor[1].shape, tensor[1].data_ptr()) == ((3,), ctypes.addressof(memory) + 12)
    for key, expected in (((0, 1), 1.0), ((-1, -1), 5.0)):
        assert (tensor[key], type(tensor[key])) == (expected, float)
    for key, expected in (
        (slice(None, None, -1), [[3, 4, 5], [0, 1, 2]]),
        (slice(1, 5), [[3, 4, 5]]),
        (slice(5, 9), []),
        ((slice(None), 1), [1, 4]),
        ((..., slice(0, 3, 2)), [[0, 2], [3, 5]]),
        ((0, slice(None, None, -2)), [2, 0]),
        ((None, 1, ..., None), [[[3], [4], [5]]]),
        ((), [[0, 1, 2], [3, 4, 5]]),
        (..., [[0, 1, 2], [3, 4, 5]]),
    ):
        assert rows_of(tensor[key]) == expected, key
    memory[4] = 9
    assert tensor[1][1] == 9
    assert 9 in tensor[1]
    whole = tensor[1, 2, ...]
    assert (type(whole), whole.shape) == (Tensor, ())


def test_an_index_that_does_not_fit_is_refused():
    tensor = make((2, 3))[0]
    for key, error, match in (
        (2, IndexError, "index 2 is out of range for axis 0 with 2 elements"),
        ((0, -4), IndexError, "index -4 is out of range for axis 1"),
        ((0, 0, 0), IndexError, "at most 2 indices"),
        ((..., ...), IndexError, "at most one `...`"),
        ([0], TypeError, "got list: use numpy.asarray"),
        (make((2,), dtype=INT32)[0], TypeError, "expected ints, .* got Tensor: use numpy.asarray"),
        (True, TypeError, "got bool"),
        ("a", TypeError, "got str"),
        (1.0, TypeError, "got float"),
    ):
        with pytest.raises(error, match=match):
            tensor[key]
    with pytest.raises(TypeError, match="without axes"):
        len(make(())[0])
    with pytest.raises(TypeError, match="without axes"):
        iter(make(())[0])
    with pytest.raises(TypeError):
        tensor[0] = 1
    with pytest.raises(IndexError, match="less than a byte"):
        make((4,), dtype=(17, 4, 1))[0][1]  # float4_e2m1fn
    with pytest.raises(IndexError, match="less than a byte"):
        make((4,), dtype=(0, 4, 1))[0][1:]
    assert bool(make((0,))[0])  # like any object


def test_a_tensor_without_axes_is_a_number():
    whole, memory = make((), dtype=INT32)
    memory[0] = 53  # the digit 5 as a byte
    for read in (int, operator.index, float, complex):
        number = read(whole)
        assert number == 53
        assert type(number) is type(read(0))
    assert "abcdef"[make((), dtype=INT32)[0]] == "a"
    real, memory = make(())
    memory[0] = 2.5
    assert (int(real), float(real), complex(real)) == (2, 2.5, 2.5)
    with pytest.raises(TypeError, match="expected a tensor of an integer type, got float32"):
        operator.index(real)
    for wrong in (make()[0], make((1,), dtype=INT32)[0], make((), device=CUDA)[0], make((), dtype=(10, 8, 1))[0]):
        for read in (int, float, complex, operator.index):
            with pytest.raises(TypeError, match="expected a tensor without axes"):
                read(wrong)


@pytest.mark.parametrize("code", [0, 1], ids=["int", "uint"])
@pytest.mark.parametrize("bits", range(1, 8))
def test_an_item_of_less_than_a_byte_is_an_int(code, bits):
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if code == 0 else (0, (1 << bits) - 1)
    numbers = [lowest, highest, 0, highest - 1, lowest, highest]
    packed = sum((number & (1 << bits) - 1) << bits * i for i, number in enumerate(numbers))
    tensor, memory = make((6,), dtype=(code, bits, 1))
    ctypes.memmove(memory, packed.to_bytes(8, "little"), 8)
    assert [(item, type(item)) for item in tensor] == [(number, int) for number in numbers]
    assert tensor[-1] == highest
    assert list(tensor[::2]) == numbers[::2]
    whole, memory = make((), dtype=(code, bits, 1))
    ctypes.memmove(memory, packed.to_bytes(8, "little"), 8)
    assert operator.index(whole) == lowest


def test_a_step_beyond_64_bits_selects_one_item():
    tensor, _ = make((2, 3))
    for step in (10**30, -(10**30)):
        assert rows_of(tensor[::step]) == [[0, 1, 2] if step > 0 else [3, 4, 5]]
        assert list(tensor[0, ::step]) == [0 if step > 0 else 2]


def test_an_element_is_found_on_any_axis():
    tensor, _ = make((2, 3))
    assert 5 in tensor
    assert 4.0 in tensor[..., None]
    assert 6 not in tensor
    assert "a" not in tensor
    assert 0 not in tensor[:0]
    with pytest.raises(TypeError, match="without axes"):
        1 in make(())[0]  # noqa: B015


def test_elements_that_python_cannot_read_are_not_compared():
    with pytest.raises(TypeError, match="tensor on cuda:1 cannot be compared: copy it to the CPU first"):
        1.0 in make(device=CUDA)[0]  # noqa: B015
    for code, bits, lanes, name in (
        (12, 8, 1, "float8_e5m2"),
        (17, 4, 1, "float4_e2m1fn"),
        (2, 32, 2, "float32x2"),
        (0, 4, 2, "int4x2"),
    ):
        tensor, _ = make((2, 2), dtype=(code, bits, lanes))
        assert tensor.dtype == name
        for each in (tensor, tensor[:0]):
            with pytest.raises(TypeError, match=f"elements of type {name} are not numbers in Python"):
                0 in each  # noqa: B015


def test_an_element_of_less_than_a_byte_is_found_wherever_a_row_begins():
    tensor, _ = make((3, 3), dtype=(0, 4, 1))  # the bytes 0, 0, 1, 0, 2
    assert [value in tensor for value in (0, 1, 2, -1)] == [True, True, True, False]


def test_a_tensor_without_axes_is_formatted_as_its_number():
    whole, memory = make(())
    memory[0] = 2.5
    assert (f"{whole:.2f}", format(whole, ">6")) == ("2.50", "   2.5")
    assert f"{whole}" == str(whole) == "float32[]@cpu:0"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(make()[0], ".2f")


def test_a_part_keeps_the_memory():
    tensor, memory = make((2, 3))
    part = tensor[1]
    del tensor, memory
    gc.collect()
    assert list(part) == [3, 4, 5]


def test_items_elsewhere_are_tensors():
    assert (type(make(device=CUDA)[0][1, 1]), make(device=CUDA)[0][1, 1].shape) == (Tensor, ())
    assert type(make((3,), dtype=(12, 8, 1))[0][1]) is Tensor  # float8_e5m2
    one, _ = make((2,), dtype=(4, 16, 1), n=2)  # bfloat16, whose bits are 0 and 1
    assert one[1] == 2.0**-133


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, *(lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(6))],
    ids=["copy", "deepcopy", *(f"pickle {p}" for p in range(6))],
)
def test_a_copy_has_the_elements_and_its_own_memory(copied):
    for shape, strides in (((2, 3), (3, 1)), ((2, 2), (6, 2)), ((3,), (-1,)), ((), ()), ((0, 3), (3, 1))):
        tensor, memory = make((2, 3) if strides == (-1,) else shape, None if strides == (-1,) else strides)
        if strides == (-1,):
            tensor = tensor[0, ::-1]
        made = copied(tensor)
        assert (type(made), made.shape, made.dtype) == (Tensor, tensor.shape, tensor.dtype)
        assert made.is_contiguous()
        before = rows_of(made[...])
        assert str(before) == str(rows_of(tensor[...])) or made.ndim == 0
        memory[0] = 100
        assert str(rows_of(made[...])) == str(before) or made.ndim == 0


class Stranger:
    """A class that native code does not know."""

    def __init__(self, items):
        self.items = items

    def __eq__(self, other):
        return self.items == other.items

    __hash__ = None


def test_a_deep_copy_of_a_container_copies_tensors_and_python_objects_in_it():
    tensor, memory = make()
    function, stranger = ffi_hpy.convert(len), Stranger([1])
    whole = ffi_hpy.List([tensor, ffi_hpy.Map({"a": tensor, "b": function}), stranger, ffi_hpy.system_lib()])
    made = copy.deepcopy(whole)
    memory[0] = 100
    assert rows_of(made[0]) == [[0, 1, 2], [3, 4, 5]]
    assert made[1]["a"].data_ptr() == made[0].data_ptr() != tensor.data_ptr()
    assert made[1]["b"].same_as(function)
    assert made[2] == stranger
    assert made[2] is not stranger
    assert made[2].items is not stranger.items
    assert made[3].same_as(ffi_hpy.system_lib())
    with pytest.raises(BufferError, match="the host cannot read"):
        copy.deepcopy(ffi_hpy.Array([make(device=CUDA)[0]]))
    with pytest.raises(TypeError):  # each interpreter has its own message
        copy.deepcopy(ffi_hpy.Array([threading.Lock()]))


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_of_a_container_has_the_tensors_in_it(protocol):
    tensor, memory = make((2, 2), (6, 2))
    small, _ = make((3,), dtype=(0, 4, 1))
    made = pickle.loads(pickle.dumps(ffi_hpy.List([tensor, {"a": tensor}, small, make((0, 3))[0]]), protocol))
    memory[0] = 100
    assert rows_of(made[0]) == [[0, 2], [6, 8]]
    assert made[1]["a"].same_as(made[0])
    assert [(each.shape, each.dtype) for each in made[2:]] == [((3,), "int4"), ((0, 3), "float32")]
    with pytest.raises(BufferError, match="the host cannot read"):
        pickle.dumps(ffi_hpy.Array([make(device=CUDA)[0]]))


def test_a_json_graph_with_a_broken_tensor_is_refused():
    graph = to_json_graph_str(ffi_hpy.Array([make((2,))[0]]))
    assert list(from_json_graph_str(graph)[0]) == [0, 1]
    for old, new in (('"float32"', '"flat"'), ("[2]", "[3]"), ('"dtype"', '"type"'), ('"shape":[2]', '"shape":7')):
        assert old in graph
        with pytest.raises((ValueError, TypeError)):
            from_json_graph_str(graph.replace(old, new))


def test_a_module_is_its_own_copy():
    module = ffi_hpy.system_lib()
    assert copy.copy(module).same_as(module)
    assert copy.deepcopy(module).same_as(module)


def test_a_copy_of_memory_on_a_device_is_refused():
    tensor = make(device=CUDA)[0]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(BufferError, match="the host cannot read"):
            copied(tensor)


def test_a_pickle_that_was_changed_is_refused():
    function, (data, shape, dtype) = make()[0].__reduce_ex__(2)
    assert function(data, shape, dtype).shape == (2, 3)
    for wrong in (data[1:], b""):
        with pytest.raises(ValueError, match="expected 24 bytes"):
            function(wrong, shape, dtype)
    with pytest.raises(ValueError, match="expected"):
        function(data, (-2, -3), dtype)


# --- NumPy ------------------------------------------------------------------------------------------------------------


@needs_numpy
@pytest.mark.parametrize("name", NAMES)
def test_numpy_shows_the_memory(name):
    whole = np.array([[0, 1, 2], [3, 4, 5]]).astype(name)
    for array in (whole, whole.T, whole[:, ::-2], whole[:0], whole[1, 2, ...]):
        tensor = from_dlpack(array)
        for shown in (np.asarray(tensor), tensor.__array__(), np.array(tensor), np.asarray(copy.copy(tensor))):
            assert (shown.dtype, shown.shape, shown.tolist()) == (array.dtype, array.shape, array.tolist())
        assert np.shares_memory(np.asarray(tensor), array) == np.shares_memory(tensor.__array__(), array)
        assert np.shares_memory(np.asarray(tensor), array) == bool(array.size)
        assert not np.shares_memory(np.array(tensor), array)
    item = from_dlpack(whole)[1, 2]
    assert (item, type(item)) == (whole[1, 2], type(whole[1, 2].item()))


@needs_numpy
def test_numpy_converts_on_request():
    array = np.arange(3, dtype="int32")
    tensor = from_dlpack(array)
    assert np.asarray(tensor, dtype="float64").tolist() == [0, 1, 2]
    assert tensor.__array__("int32").base is not None
    assert not np.shares_memory(tensor.__array__(copy=True), array)
    assert np.shares_memory(tensor.__array__(copy=False), array)
    with pytest.raises(ValueError, match="must be copied"):
        tensor.__array__("float64", copy=False)
    assert np.array_equal(np.concatenate([tensor, tensor]), [0, 1, 2, 0, 1, 2])
    with pytest.raises(TypeError, match="on cuda:1 cannot become a NumPy array"):
        make(device=CUDA)[0].__array__()
    with pytest.raises(TypeError, match="no type for the elements of a tensor of float16x2"):
        np.asarray(make((2,), dtype=(2, 16, 2))[0])


@needs_numpy
def test_an_array_keeps_its_tensor():
    tensor, memory = make()
    for array in (np.asarray(tensor), tensor.__array__()):
        array[0, 0] = 8
        assert memory[0] == 8
        memory[0] = 0
    shown = [np.asarray(tensor), tensor.__array__()]
    ffi_hpy.convert(lambda x: None)(tensor._move())
    del tensor, memory
    gc.collect()
    assert [array.tolist() for array in shown] == [[[0, 1, 2], [3, 4, 5]]] * 2


ML_DTYPES = (
    *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
    *("int4", "uint4", "int2", "uint2"),
)


@pytest.mark.parametrize("name", ML_DTYPES)
def test_small_types_of_numpy_go_in_and_come_out(testing, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip("this release of ml_dtypes has no such type")
    low = -2 if name.startswith("int") else 1
    whole = np.array([[1, low, 1], [low, 1, 1]]).astype(getattr(ml_dtypes, name))
    for array in (whole, whole.T, whole[:, ::-2], whole[:0], whole[1, 1, ...]):
        for tensor in (from_dlpack(array), testing.echo(array), testing.echo([array])[0]):
            assert (tensor.dtype, tensor.shape) == (name, array.shape)
            for shown in (tensor, copy.copy(tensor), pickle.loads(pickle.dumps(tensor))):
                shown = np.asarray(shown)
                assert (shown.dtype, shown.shape, shown.tobytes()) == (array.dtype, array.shape, array.tobytes())
    tensor = from_dlpack(whole)
    is_shared = tensor.dtype.bits >= 8
    assert np.shares_memory(np.asarray(tensor), whole) == is_shared
    if is_shared:
        assert tensor.__array__(copy=False).dtype == whole.dtype
    else:  # a byte for each element in NumPy, packed in a tensor
        assert tensor.__reduce_ex__(2)[1][0] == pack(whole, tensor.dtype.bits)
        with pytest.raises(ValueError, match="must be copied"):
            tensor.__array__(copy=False)
    assert tensor.__array__("float32").tolist() == whole.astype("float32").tolist()


def pack(array, bits):
    number = sum((int(code) & (1 << bits) - 1) << bits * i for i, code in enumerate(array.view("uint8").ravel()))
    return number.to_bytes((array.size * bits + 7) // 8, "little")


# --- capsules ---------------------------------------------------------------------------------------------------------


def test_a_bare_capsule_is_an_argument(testing):
    source, memory = make()
    for capsule in (source.__dlpack__(), source.__dlpack__(max_version=(1, 0))):
        returned = testing.echo(capsule)
        assert (type(returned), returned.data_ptr()) == (Tensor, ctypes.addressof(memory))
        with pytest.raises(ValueError, match="consumed already"):
            testing.echo(capsule)
    assert testing.echo([source.__dlpack__()])[0].data_ptr() == source.data_ptr()
    assert ffi_hpy.convert(source.__dlpack__()).shape == (2, 3)
    with pytest.raises(BufferError, match="read-only"):
        testing.echo(ffi_hpy._core.memory_capsule(memory, source.data_ptr(), (2,), (1,), FLOAT32, CPU, True))


@pytest.mark.skipif(not ffi_hpy._core.HAS_EXCHANGE, reason="this context has no such capsule")
def test_another_capsule_stays_an_opaque_object(testing):
    capsule = Tensor.__dlpack_c_exchange_api__
    assert testing.echo(capsule) is capsule


def test_a_capsule_releases_its_owner():
    import weakref

    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    tensor = from_dlpack(ffi_hpy._core.memory_capsule(owner, 4096, (2,), (1,), FLOAT32, CUDA, False))
    del owner
    gc.collect()
    assert alive() is not None
    assert tensor.data_ptr() == 4096
    del tensor
    assert is_gone(alive)
    with pytest.raises(TypeError, match="tuple"):
        ffi_hpy._core.memory_capsule(None, 4096, (2,), (1, 1), FLOAT32, CUDA, False)


# --- GPUs -------------------------------------------------------------------------------------------------------------


def test_memory_on_a_gpu_has_cudas_interface():
    tensor, memory = make(device=CUDA)
    expected = {"version": 3, "shape": (2, 3), "strides": None, "typestr": "<f4", "stream": 1}
    assert tensor.__cuda_array_interface__ == {**expected, "data": (ctypes.addressof(memory), False)}
    part = tensor[:, 1:]
    assert part.__cuda_array_interface__["strides"] == (12, 4)
    assert part.__cuda_array_interface__["data"] == (ctypes.addressof(memory) + 4, False)
    assert tensor[:0].__cuda_array_interface__["data"] == (0, False)
    with ffi_hpy.use_raw_stream(ffi_hpy.device("cuda:1"), 0x7000):
        assert tensor.__cuda_array_interface__["stream"] == 0x7000
    for other in (make()[0], make(device=CUDA, dtype=(4, 16, 1))[0]):
        assert not hasattr(other, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="__cuda_array_interface__"):
        make()[0].__cuda_array_interface__  # noqa: B018
