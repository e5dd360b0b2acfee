"""Arrays as arguments and results of libraries that are bound with ffi_hpy/ndarray.h."""

from __future__ import annotations

import array
import ctypes
import inspect

import pytest
from support import collect_garbage, needs_buffers, needs_identity, needs_one_wrapper, parallelize
from support.arrays import FLOAT32

import ffi_hpy

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]
try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

pytestmark = needs_one_wrapper

needs_numpy = pytest.mark.skipif(np is None, reason="NumPy has no wheel for this interpreter")
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


def refused():
    """Expect that no overload accepts the arguments."""
    return pytest.raises(TypeError, match="incompatible function arguments")


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_arrays.cc."""
    return import_bound("bound_arrays")


class Producer:
    """An array of a library that has only DLPack."""

    def __init__(self, dtype=(2, 64, 1), shape=(3,), device=(1, 0), read_only=False):
        self.memory = (ctypes.c_double * 8)(*range(8))
        self.form = (shape, tuple(1 for _ in shape), dtype, device)
        self.read_only = read_only

    def __dlpack_device__(self):
        return self.form[3]

    def __dlpack__(self, max_version=None, **_options):
        if self.read_only and max_version is None:
            raise BufferError("read-only")
        return ffi_hpy._core.memory_capsule(self, ctypes.addressof(self.memory), *self.form, self.read_only)


# --- any interpreter -------------------------------------------------------------------------------------------------


def test_arrays_of_any_library_are_described(bound):
    producer = Producer(shape=(2, 1))
    assert bound.describe(producer) == "2/64@1:0 2*1 1*1"
    assert bound.describe(ffi_hpy.from_dlpack(producer)) == "2/64@1:0 2*1 1*1"
    assert bound.describe(Producer(read_only=True, dtype=FLOAT32)) == "2/32@1:0 3*1"
    assert bound.describe(Producer(device=(2, 1))) == "2/64@2:1 3*1"
    capsule = producer.__dlpack__()
    assert bound.describe(capsule) == "2/64@1:0 2*1 1*1"
    with refused():  # the capsule was used up
        bound.describe(capsule)
    assert bound.sizes(producer) == (True, 2, 16, 8)
    assert (bound.sizes(None), bound.is_given(), bound.is_given(None)) == ((False, 0, 0, 0), False, False)
    assert bound.is_given(producer)
    with refused():
        bound.describe(None)


@pytest.mark.parametrize("wrong", [3, "text", [1.0], object(), range(3), lambda: None])
def test_values_that_are_not_arrays_are_refused(bound, wrong):
    assert not bound.check(wrong)
    with refused():
        bound.describe(wrong)


def test_buffers_of_python_are_arrays(bound):
    numbers = array.array("d", [1, 2])
    for view in (numbers, memoryview(numbers)):
        assert bound.check(view)
        bound.scale(view, 3)
        assert bound.read(view) == sum(numbers)
    assert numbers.tolist() == [9, 18]
    assert [bound.bytes(x) for x in (b"hello", b"long" * 10, bytearray(b"x"))] == ["hello", "long" * 10, "x"]
    assert [bound.bytes(x) for x in (memoryview(b"ab"), b"")] == ["ab", ""]
    room = bytearray(10)
    bound.count(room)
    assert room == bytes(range(10))
    for wrong in (b"0123456789", memoryview(bytes(10)), bytearray(9), array.array("b", range(10))):
        with refused():
            bound.count(wrong)
    for code in "bBhHiIlLqQf":
        assert bound.describe(array.array(code, [1])).endswith("@1:0 1*1")


def test_read_only_arrays_need_a_function_that_only_reads(bound):
    fixed = Producer(read_only=True)
    assert bound.read(fixed) == 3
    with refused():
        bound.scale(fixed, 2.0)
    made = bound.array_api_ro()
    with pytest.raises(BufferError):
        made.__dlpack__()
    assert "versioned" in repr(made.__dlpack__(max_version=(1, 0)))
    assert bound.describe(made) == "2/32@1:0 2*4 4*1"
    with refused():
        bound.double_floats(made)


def test_demands(bound):
    bound.float32(Producer(dtype=FLOAT32))
    bound.shaped(bound.array_api_shaped())
    for wrong in (Producer(), Producer(dtype=(0, 32, 1)), Producer(dtype=(2, 32, 2))):
        with refused():
            bound.float32(wrong)
    for wrong in (Producer(dtype=FLOAT32), Producer(dtype=FLOAT32, shape=(3, 1, 4)), Producer(shape=(3, 1, 4))):
        with refused():
            bound.shaped(wrong)
    with refused():
        bound.gpu(Producer())
    bound.gpu(Producer(device=(2, 0)))
    assert bound.sum_all([Producer(), Producer()]) == 0
    with refused():
        bound.sum_all([Producer(), 3])


def test_an_array_returns_as_the_same_object(bound):
    for value in (Producer(), bytearray(3), array.array("d", [1])):
        assert getattr(bound, "pass")(value) is value
    assert bound.pass_or_none(None) is None
    numbers = array.array("d", [1, 2])
    copied = bound.pass_copy(numbers)
    assert copied == numbers
    assert copied is not numbers


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_results_without_a_library(bound):
    collect_garbage()
    before = bound.n_freed()
    capsule = bound.plain()
    assert "dltensor" in repr(capsule)
    tensor = ffi_hpy.from_dlpack(capsule)
    del capsule
    assert (tensor.shape, str(tensor.dtype)) == ((2, 4), "float32")
    assert tensor[1, 2] == 7
    assert bound.array_api().__dlpack_device__() == (1, 0)
    capsule = tensor.__dlpack__()
    del tensor
    collect_garbage(lambda: bound.n_freed() - before == 1)
    assert bound.n_freed() - before == 1
    del capsule
    collect_garbage(lambda: bound.n_freed() - before == 2)
    assert bound.n_freed() - before == 2


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
@needs_buffers
def test_results_as_memoryview(bound):
    collect_garbage()
    before = bound.n_freed()
    view = bound.memory()
    assert type(view) is memoryview
    assert (view.tolist(), view.readonly) == ([[1, 2, 3, 4], [5, 6, 7, 8]], False)
    fixed = bound.memory_ro()
    assert (fixed.tolist(), fixed.readonly) == ([[1, 2, 3, 4], [5, 6, 7, 8]], True)
    del view, fixed
    collect_garbage(lambda: bound.n_freed() - before == 2)
    assert bound.n_freed() - before == 2


def test_results_that_cannot_be_made(bound):
    with pytest.raises(RuntimeError, match="not supported for this framework"):
        bound.memory_from_stack()
    with pytest.raises(ValueError, match="another length than the strides"):
        bound.wrong_strides()
    with pytest.raises(RuntimeError, match="rv_policy::none"):
        bound.refuse()


def test_signatures_show_the_demands(bound):
    assert bound.float32.__doc__ == "float32(array: ndarray[dtype=float32]) -> None"
    assert bound.shaped.__doc__ == (
        "shaped(array: ndarray[dtype=float32, shape=(3, *, 4), order='C', device='cpu']) -> None"
    )
    assert bound.fixed.__doc__ == ("fixed() -> numpy.ndarray[dtype=float32, shape=(2, 4), order='F', writable=False]")
    assert bound.half.__doc__ == "half() -> numpy.ndarray[dtype=float16, shape=(2)]"
    assert bound.sizes.__doc__ == "sizes(array: ndarray | None) -> tuple"
    assert "dtype=float32" in str(inspect.signature(bound.float32).parameters["array"].annotation)
    with pytest.raises(TypeError, match=r"1\. float32\(array: ndarray\[dtype=float32\]\) -> None"):
        bound.float32(3)


@needs_identity
def test_threads_share_an_array(bound):
    numbers = array.array("d", [1, 2])

    def work(_):
        for _i in range(100):
            assert bound.read(numbers) == 3
            assert getattr(bound, "pass")(numbers) is numbers
            assert ffi_hpy.from_dlpack(bound.plain())[0, 1] == 2
        return True

    assert parallelize(work, 4) == [True] * 4


# --- NumPy -----------------------------------------------------------------------------------------------------------


@needs_numpy
def test_numpy_arrays_are_passed_without_a_copy(bound):
    cube = np.zeros((3, 4, 5))
    assert bound.describe(cube) == "2/64@1:0 3*20 4*5 5*1"
    assert bound.describe(cube[:, ::2, 1]) == "2/64@1:0 3*20 2*10"
    assert bound.describe(np.float32(3)[...]) == "2/32@1:0"
    assert [bound.is_type(np.zeros(1, kind)) for kind in ("f4", "?", "c16", "i2")] == [
        "float",
        "bool",
        "complex",
        "other",
    ]
    numbers = np.arange(3.0)
    bound.scale(numbers, 2)
    assert numbers.tolist() == [0, 2, 4]
    assert getattr(bound, "pass")(numbers) is numbers
    fixed = numbers.copy()
    fixed.flags.writeable = False
    assert bound.read(fixed) == 6
    with refused():
        bound.scale(fixed, 2.0)


@needs_numpy
def test_orders(bound):
    cube = np.zeros((3, 5, 4))
    assert [bound.order(x) for x in (cube, np.asfortranarray(cube), cube[:, ::2])] == ["C", "F", "?"]
    both = np.zeros((2, 1), np.float32)
    assert bound.either(both) is both
    assert bound.order(np.zeros((0, 5, 4))[:, ::2]) == "C"
    with refused():
        bound.either(np.zeros((4, 4), np.float32)[:2, :2])


@needs_numpy
def test_conversion_makes_an_array_of_the_other_type_and_order(bound):
    for wrong in (
        np.ones((2, 3)),
        np.ones((2, 3), np.uint32),
        np.ones((2, 6), np.float32)[:, ::2],
        np.ones((2, 3), bool),
    ):
        made = bound.converted(wrong)
        assert (type(made), made.dtype, made.flags.c_contiguous, made.tolist()) == (
            np.ndarray,
            "f4",
            True,
            [[1] * 3] * 2,
        )
        with refused():
            bound.strict(wrong)
    by_columns = bound.by_columns(np.arange(6).reshape(2, 3))
    assert (by_columns.flags.f_contiguous, by_columns.tolist()) == (True, [[0, 1, 2], [3, 4, 5]])
    same = np.ones((2, 3), np.float32)
    assert bound.converted(same) is same
    for wrong in (np.ones((2, 3)) + 1j, np.ones(3), np.array([["a", "b"]]), np.array([[None]])):
        with refused():
            bound.converted(wrong)
    complexes = np.zeros(2) + 1j
    assert (bound.kind(complexes), complexes[0], bound.kind(np.zeros(2))) == ("complex", 7, "real")
    assert bound.converted(memoryview(np.ones((2, 3)))).dtype == "f4"


@needs_numpy
def test_elements_are_read_and_written(bound):
    expected = [[10 * i + j for j in range(4)] for i in range(3)]
    for order in "CF":
        found = np.zeros((3, 4), np.float32, order=order)
        bound.fill(found)
        assert found.tolist() == expected
    found = np.zeros((3, 4), np.float32, order="F")
    bound.fill_columns(found)
    assert found.tolist() == expected
    assert bound.double_floats(found)
    assert found[2, 3] == 46
    assert not bound.double_floats(np.zeros(3))
    assert bound.imag(np.array([1 + 2j], np.complex64)) == 2
    negative = np.ones((2, 2), np.complex64)
    bound.negate(negative)
    assert (negative == -1).all()


@needs_numpy
@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_results_for_numpy(bound):
    collect_garbage()
    before = bound.n_freed()
    found = bound.numpy()
    assert (type(found), found.flags.writeable, found.tolist()) == (np.ndarray, True, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert bound.n_freed() == before
    del found
    collect_garbage(lambda: bound.n_freed() == before + 1)
    assert bound.n_freed() == before + 1
    assert (bound.scalar().shape, bound.empty().shape, bound.empty().dtype) == ((), (0,), "f4")
    assert bound.half().tolist() == [1, 2]
    assert bound.half().dtype == "f2"
    assert bound.strided().tolist() == [[1, 3], [5, 7]]
    assert (bound.typed_late(True).dtype, bound.typed_late(False).dtype) == ("i4", "f4")
    assert bound.from_stack().tolist() == [1, 2, 3]


@needs_numpy
def test_policies_of_results(bound):
    fixed = bound.fixed()
    assert (fixed.tolist(), fixed.flags.writeable) == ([[1, 3, 5, 7], [2, 4, 6, 8]], False)
    assert np.shares_memory(fixed, bound.fixed())
    copied = bound.fixed_copy()
    assert (copied.tolist(), copied.flags.writeable) == ([[1, 2, 3, 4], [5, 6, 7, 8]], True)
    assert not np.shares_memory(copied, fixed)
    found = np.ones(3)
    assert not np.shares_memory(bound.pass_copy(found), found)
    without = bound.internal_without_object()
    assert (without.tolist(), np.shares_memory(without, fixed)) == ([[1, 2, 3, 4], [5, 6, 7, 8]], False)


@needs_numpy
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.asfortranarray([[0.0, 1], [2, 3]]),
        lambda: memoryview(np.array([[0.0, 1], [2, 3]])),
        lambda: np.ma.array([[0.0, 1], [2, 3]], order="F"),
    ],
)
def test_a_copy_is_an_array_of_the_library_that_the_result_demands(bound, make):
    source = make()
    copied = bound.numpy_copy(source)
    assert (type(copied), copied.tolist()) == (np.ndarray, [[0, 1], [2, 3]])
    assert copied.flags.f_contiguous == np.asarray(source).flags.f_contiguous
    copied[0, 0] = 9
    assert source[0, 0] == 0


@needs_numpy
def test_a_capsule_that_is_used_up_returns_as_an_array(bound):
    source = np.arange(3.0)
    made = bound.pass_numpy(source.__dlpack__())
    assert (type(made), made.tolist()) == (np.ndarray, [0, 1, 2])
    assert np.shares_memory(made, source)


@needs_numpy
def test_an_array_that_only_has_dlpack_is_converted_by_its_memory(bound):
    assert bound.bools(Producer()).tolist() == [False, True, True]
    assert bound.bools(np.arange(3.0).__dlpack__()).tolist() == [False, True, True]
    made = bound.converted(Producer(shape=(2, 3)))
    assert (made.dtype, made.tolist()) == ("f4", [[0, 1, 2], [1, 2, 3]])
    with refused():
        bound.bools(Producer(device=(2, 0)))


@needs_numpy
def test_an_array_is_a_sequence_by_a_conversion(bound):
    kinds = [bound.sequence_or_array(value) for value in (np.zeros(3), [1.0], np.zeros(3, "f4"), (1.0,))]
    assert kinds == ["array", "sequence", "sequence", "sequence"]
    assert bound.exact_sequence([1.0, 2.0]) == 2
    with refused():
        bound.exact_sequence(np.zeros(2))


@needs_numpy
def test_rows_of_an_array_are_arrays(bound):
    assert bound.sum_all(np.arange(6.0).reshape(3, 2)) == 0 + 2 + 4
    with refused():
        bound.sum_all(np.arange(3.0))


@needs_numpy
@needs_identity
@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_an_array_keeps_the_object_that_it_is_a_part_of(bound):
    matrix = bound.Matrix()
    parts = [matrix.data(), matrix.internal(), matrix.owned(), matrix.owned_internal()]
    parts[0][0, 0] = 9
    assert [part[0, 0] for part in parts] == [9] * 4
    assert parts[0].flags.f_contiguous
    assert matrix.copy()[0, 0] == 9
    with pytest.raises(RuntimeError, match="another owner"):
        matrix.owned_by((1,))
    for i in range(4):
        part = parts[i]
        other = bound.Matrix()
        part = (other.data, other.internal, other.owned, other.owned_internal)[i]()
        del other
        collect_garbage()
        assert (part[1, 0], bound.Matrix.n_alive()) == (1, 2)
        del part
        collect_garbage(lambda: bound.Matrix.n_alive() == 1)
        assert bound.Matrix.n_alive() == 1
    del matrix, parts
    collect_garbage(lambda: bound.Matrix.n_alive() == 0)
    assert bound.Matrix.n_alive() == 0


@needs_numpy
def test_a_class_that_computes_its_module_is_converted(bound):
    class Computed(type):
        @property
        def __module__(cls):
            return "".join(["nu", "mpy"])

    class Own(np.ndarray, metaclass=Computed):
        pass

    assert bound.converted(np.zeros((2, 2), np.uint32).view(Own)).dtype == "f4"


@needs_torch
def test_arrays_of_torch(bound):
    found = bound.torch()
    assert (type(found), found.tolist()) == (torch.Tensor, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert getattr(bound, "pass")(found) is found
    assert [bound.order(x) for x in (found, found.t(), found[:, ::2])] == ["C", "F", "?"]
    made = bound.converted(torch.ones(2, 3, dtype=torch.int32))
    assert (type(made), made.dtype) == (torch.Tensor, torch.float32)
    assert bound.by_columns(torch.ones(2, 3)).stride() == (1, 2)
    assert bound.pass_copy(found).data_ptr() != found.data_ptr()


@pytest.mark.parametrize(
    ("function", "make", "line"),
    [
        (
            "float32",
            lambda np: np.zeros((2, 3)),
            "argument #0 `array` has dtype float64, shape (2, 3) and strides (3, 1), on cpu:0",
        ),
        (
            "shaped",
            lambda np: np.zeros((3, 1), "f"),
            "argument #0 `array` has dtype float32, shape (3, 1) and strides (1, 1), on cpu:0",
        ),
        ("fill", lambda np: np.broadcast_to(np.zeros((), "f"), (2, 2)), "argument #0 `a` is read-only"),
        ("sum_all", lambda np: [np.zeros(1), np.zeros(())], "[1] has dtype float64, shape () and strides (), on cpu:0"),
    ],
)
def test_an_error_describes_the_array(bound, function, make, line):
    numpy = pytest.importorskip("numpy")
    with refused() as caught:
        getattr(bound, function)(make(numpy))
    assert str(caught.value).endswith(line)
