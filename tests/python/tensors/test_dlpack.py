"""The DLPack protocol: both capsule versions, capsules that are used twice, misbehaving producers, and ownership."""

import ctypes
import sys
import threading
import weakref

import pytest
from support import FREES_AT_ONCE, IS_PYPY, collect_garbage, is_gone, needs_threads, parallelize

import ffi_hpy
from ffi_hpy import Tensor, from_dlpack

np = pytest.importorskip("numpy")


def capsule_name(capsule):
    return repr(capsule).split('"')[1]


IS_COPIED = 2


class Versioned(ctypes.Structure):
    _fields_ = (
        *[(name, ctypes.c_uint32) for name in ("major", "minor")],
        *[(name, ctypes.c_void_p) for name in ("manager_ctx", "deleter")],
        ("flags", ctypes.c_uint64),
    )


def flags_of(capsule):
    """Return the flags in a versioned capsule, as another library sees them."""
    if IS_PYPY:
        pytest.skip("PyPy's ctypes cannot call its C API")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return Versioned.from_address(get(capsule, b"dltensor_versioned")).flags


class Producer:
    """Exports the memory of an array as the arguments specify. The capsules keep the array alive."""

    def __init__(self, array, refuse_legacy=False, refuse_versions=False):
        self.array = array
        self.refuse_legacy = refuse_legacy
        self.refuse_versions = refuse_versions
        self.asked = []

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.refuse_versions and options:
            raise TypeError("unexpected keyword argument 'max_version'")
        if self.refuse_legacy and not options:
            raise BufferError("only in the versioned struct")
        return from_dlpack(self.array).__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


def make_tensor():
    return from_dlpack(np.arange(6, dtype="float32"))


@pytest.fixture
def tensor():
    return make_tensor()


def test_a_consumer_without_versions_gets_the_older_struct(tensor):
    assert capsule_name(tensor.__dlpack__()) == "dltensor"
    assert capsule_name(tensor.__dlpack__(max_version=None)) == "dltensor"
    assert capsule_name(tensor.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert capsule_name(tensor.__dlpack__(stream=None)) == "dltensor"


@pytest.mark.parametrize("version", [(1, 0), (1, 1), (1, 3), (2, 0)], ids=str)
def test_a_consumer_with_versions_gets_the_versioned_struct(tensor, version):
    assert capsule_name(tensor.__dlpack__(max_version=version)) == "dltensor_versioned"


def test_names_of_keywords_made_at_run_time_are_the_same_names(tensor):
    options = {"".join(["max_", "version"]): (1, 0), "".join(["co", "py"]): None}
    assert capsule_name(tensor.__dlpack__(**options)) == "dltensor_versioned"
    with pytest.raises(TypeError, match="unexpected keyword argument 'maxversion'"):
        tensor.__dlpack__(**{"max" + "version": (1, 0)})


def test_a_consumer_may_ask_for_the_device_that_it_is_on(tensor):
    assert capsule_name(tensor.__dlpack__(dl_device=(1, 0), copy=False)) == "dltensor"


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 99), (3, 0)], ids=str)
@pytest.mark.parametrize("place", [{}, {"dl_device": (1, 0)}, {"dl_device": None}], ids=str)
def test_a_consumer_may_ask_for_a_copy(tensor, version, place):
    capsule = tensor.__dlpack__(max_version=version, copy=True, **place)
    assert capsule_name(capsule) == ("dltensor_versioned" if version is not None and version[0] > 0 else "dltensor")
    copy = from_dlpack(capsule)
    assert np.from_dlpack(copy).tolist() == np.from_dlpack(tensor).tolist()
    assert copy.data_ptr() != tensor.data_ptr()
    assert copy.data_ptr() % 64 == 0


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(24, dtype="int8").reshape(4, 6)[::2, ::3],
        np.arange(6, dtype="float32")[::-1],
        np.zeros((3, 0, 2)),
        np.array(5, dtype="complex128"),
        np.ones((1, 7, 1), dtype="uint16"),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}{array.strides}",
)
def test_a_copy_is_compact_and_has_the_same_elements(array):
    copy = from_dlpack(from_dlpack(array).__dlpack__(copy=True, max_version=(1, 0)))
    assert copy.is_contiguous()
    assert copy.shape == array.shape
    back = np.from_dlpack(copy)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


def test_a_copy_says_that_it_is_one(tensor):
    assert flags_of(tensor.__dlpack__(copy=True, max_version=(1, 0))) == IS_COPIED
    assert flags_of(tensor.__dlpack__(copy=False, max_version=(1, 0))) == 0


def test_an_array_that_cannot_be_moved_is_a_buffer_error(tensor):
    for copy in (None, True, False):
        with pytest.raises(BufferError, match=r"device|copy"):
            tensor.__dlpack__(dl_device=(2, 0), copy=copy)
    for n, error in ((2**59, BufferError), (2**50, MemoryError)):
        huge = from_dlpack(np.lib.stride_tricks.as_strided(np.zeros(1), (n,), (0,)))
        with pytest.raises(error, match="memory"):
            huge.__dlpack__(copy=True)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_version": 1}, TypeError),
        ({"max_version": ()}, IndexError),
        ({"max_version": ("1", 0)}, TypeError),
        ({"dl_device": (1,)}, IndexError),
        ({"dl_device": "cpu"}, TypeError),
        ({"dl_device": (2**40, 0)}, OverflowError),
        ({"version": (1, 0)}, TypeError),
    ],
    ids=str,
)
def test_a_malformed_request_is_an_error(options, error):
    tensor = make_tensor()  # private to this thread, because each test may run in several
    before = tensor.__use_count__()
    with pytest.raises(error):
        tensor.__dlpack__(**options)
    with pytest.raises(TypeError, match="keyword"):
        tensor.__dlpack__(None)
    assert tensor.__use_count__() == before


@pytest.mark.parametrize("version", [None, (1, 0)], ids=str)
def test_a_capsule_of_either_version_comes_in(tensor, version):
    capsule = tensor.__dlpack__(max_version=version)
    again = from_dlpack(capsule)
    assert (again.data_ptr(), again.shape) == (tensor.data_ptr(), (6,))
    assert capsule_name(capsule).startswith("used_dltensor")


@pytest.mark.parametrize("version", [None, (1, 0)], ids=str)
def test_a_capsule_is_used_once(tensor, version):
    capsule = tensor.__dlpack__(max_version=version)
    from_dlpack(capsule)
    with pytest.raises(ValueError, match="consumed already"):
        from_dlpack(capsule)


@pytest.mark.parametrize("version", [None, (1, 0)], ids=str)
def test_a_capsule_that_was_refused_can_still_be_used(tensor, version):
    strided = from_dlpack(np.zeros(6, dtype="float32")[::2])
    capsule = strided.__dlpack__(max_version=version)
    with pytest.raises(RuntimeError, match="contiguous"):
        from_dlpack(capsule, require_contiguous=True)
    assert from_dlpack(capsule).shape == (3,)


def test_a_capsule_of_another_kind_is_refused():
    import datetime

    if not hasattr(datetime, "datetime_CAPI"):
        pytest.skip("this interpreter's standard library has no capsule")
    with pytest.raises(TypeError, match="expected a DLPack capsule, got"):
        from_dlpack(datetime.datetime_CAPI)


def count_of(tensor, wanted):
    collect_garbage(lambda: tensor.__use_count__() == wanted)
    return tensor.__use_count__()


@pytest.mark.parametrize("version", [None, (1, 0)], ids=str)
def test_references_are_released_with_a_capsule(version):
    tensor = make_tensor()
    before = tensor.__use_count__()
    for _ in range(3):
        capsule = tensor.__dlpack__(max_version=version)
        del capsule
    assert count_of(tensor, before) == before
    for _ in range(3):
        from_dlpack(tensor.__dlpack__(max_version=version))
    assert count_of(tensor, before) == before


def test_numpy_releases_its_reference():
    tensor = make_tensor()
    before = tensor.__use_count__()
    array = np.from_dlpack(tensor)
    assert tensor.__use_count__() == before + 1
    del array
    assert count_of(tensor, before) == before


class Memory:
    """Memory that records its release."""

    def __init__(self, n):
        self.buffer = (ctypes.c_float * n)()

    @property
    def __array_interface__(self):
        return {
            "shape": (len(self.buffer),), "typestr": "<f4", "version": 3,
            "data": (ctypes.addressof(self.buffer), False),
        }  # fmt: skip


def test_memory_is_freed_with_the_last_tensor_on_it(testing):
    memory = Memory(5)
    ref = weakref.ref(memory)
    tensor = from_dlpack(np.asarray(memory))
    del memory
    again = testing.echo(tensor)
    del tensor
    assert ref() is not None
    assert again.shape == (5,)
    del again
    assert is_gone(ref)


def test_memory_is_freed_by_a_thread_that_drops_the_last_tensor():
    memory = Memory(5)
    ref = weakref.ref(memory)
    holder = [from_dlpack(np.asarray(memory))]
    del memory
    assert ref() is not None
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()
    assert is_gone(ref)


CUBE = np.arange(24, dtype="int16").reshape(2, 3, 4)
ARRAYS = [
    *(np.arange(6).astype(name).reshape(2, 3) for name in "?bBhHiIlLqQefdFD"),
    *(CUBE, CUBE.T, CUBE[::-1], CUBE[:, 1:], CUBE[..., ::2], CUBE[0, 0, 0:0], np.array(7.5), np.zeros((1,) * 9)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{list(array.shape)}{list(array.strides)}")
def test_a_tensor_of_an_array_has_the_array_s_description(array):
    class Asked:  # it has no struct that could be read
        def __dlpack__(self, **options):
            return array.__dlpack__(**options)

    mine, asked = from_dlpack(array), from_dlpack(Asked())
    assert (mine.shape, mine.dtype, mine.data_ptr()) == (asked.shape, asked.dtype, asked.data_ptr())
    steps = [step for size, step in zip(mine.shape, mine.strides) if size > 1]
    assert steps == [step for size, step in zip(asked.shape, asked.strides) if size > 1]
    assert mine.__dlpack_device__() == asked.__dlpack_device__() == (1, 0)
    assert np.array_equal(np.from_dlpack(mine), array)


@pytest.mark.parametrize("change", [lambda a: a.astype(">i4"), lambda a: np.array(["x"]), lambda a: a.view("M8[s]")])
def test_an_array_that_has_no_native_type_is_refused(change):
    with pytest.raises(BufferError):
        from_dlpack(change(np.arange(3)))


def test_memory_of_an_argument_is_freed_after_the_call(testing):
    memory = Memory(5)
    ref = weakref.ref(memory)
    array = np.asarray(memory)
    del memory
    testing.nop(array)
    testing.apply(lambda x: None, array)
    del array
    assert is_gone(ref)


def kept_by_a_callback(array, testing):
    kept = []
    ffi_hpy.convert(kept.append)(array)
    return kept[0]


def kept_in_a_list(array, testing):
    items = ffi_hpy.List([0])
    items[0] = array
    return items[0]


KEEPERS = {
    "callback": kept_by_a_callback,
    "result": lambda array, testing: testing.echo(array),
    "list": kept_in_a_list,
    "item": lambda array, testing: testing.echo([array])[0],
    "value": lambda array, testing: testing.echo({"key": array})["key"],
    "convert": lambda array, testing: ffi_hpy.convert(array),
}


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_kept_argument_keeps_its_array_and_releases_it(testing, keeper):
    memory = Memory(5)
    ref = weakref.ref(memory)
    array = np.asarray(memory)
    del memory
    tensors = [KEEPERS[keeper](array, testing) for _ in range(3)]
    address = array.__array_interface__["data"][0]
    del array
    assert ref() is not None
    assert [(tensor.data_ptr(), tensor.shape) for tensor in tensors] == [(address, (5,))] * 3
    del tensors[1:]
    assert ref() is not None
    tensors.clear()
    assert is_gone(ref)


def test_objects_destroyed_with_a_tensors_array_may_make_and_drop_tensors(testing):
    made = []

    def end():
        first = from_dlpack(np.arange(5))
        del first
        made.extend(from_dlpack(np.arange(n, n + 4)) for n in range(20))
        made.append(testing.echo(np.arange(3)))

    memory = Memory(5)
    weakref.finalize(memory, end)
    tensors = [from_dlpack(np.asarray(memory))]
    del memory
    assert made == []
    tensors.clear()
    collect_garbage(lambda: len(made) == 21)
    after = [from_dlpack(np.arange(n, n + 4)) for n in range(20)]
    expected = [list(range(n, n + 4)) for n in range(20)]
    assert [np.from_dlpack(tensor).tolist() for tensor in made] == [*expected, [0, 1, 2]]
    assert [np.from_dlpack(tensor).tolist() for tensor in after] == expected


@pytest.mark.skipif(not FREES_AT_ONCE, reason="it is about contexts in which arguments are borrowed from the caller")
def test_an_array_is_not_counted_while_it_is_an_argument():
    array = np.zeros(3)
    seen = []
    ffi_hpy.convert(lambda tensor: seen.append(sys.getrefcount(array)))(array)
    assert seen == [sys.getrefcount(array) + 1]  # plus the reference of the calling interpreter


@needs_threads
def test_one_array_is_passed_while_threads_make_and_end_views_of_it(testing):
    array = np.arange(24, dtype="int32").reshape(2, 3, 4)
    address = array.__array_interface__["data"][0]

    def work(i):
        for n in range(300):
            if i % 2:
                view = array[:, n % 3 :, ::2].T
                tensor = from_dlpack(view) if n % 4 else testing.echo(view)
                assert (tensor.shape, tensor.strides) == ((2, 3 - n % 3, 2), (2, 4, 12))
                assert tensor.data_ptr() == address + 16 * (n % 3)
                del view
                assert np.array_equal(np.from_dlpack(tensor), array[:, n % 3 :, ::2].T)
            else:
                tensor = testing.echo(array) if n % 4 else from_dlpack(array)
                assert (tensor.shape, tensor.strides, tensor.data_ptr()) == ((2, 3, 4), (12, 4, 1), address)
        return True

    assert parallelize(work) == [True] * 4


@needs_threads
def test_arrays_end_while_threads_still_have_their_tensors(testing):
    memories = []

    def work(i):
        kept = []
        for n in range(100):
            memory = Memory(n % 7 + 1)
            memories.append(weakref.ref(memory))
            array = np.asarray(memory)
            del memory
            testing.apply(kept.append, array)
            del array
            assert kept[-1].shape == (n % 7 + 1,)
            del kept[: n % 3]
        return True

    assert parallelize(work) == [True] * 4
    assert all(is_gone(ref) for ref in memories)


def test_a_producer_is_asked_for_the_older_struct_first(testing, tensor):
    producer = Producer(np.arange(3))
    assert testing.echo(producer).shape == (3,)
    assert producer.asked == [{}]


def test_a_producer_that_refuses_the_older_struct_is_asked_again(testing):
    for use in (testing.echo, from_dlpack):
        producer = Producer(np.arange(3), refuse_legacy=True)
        assert use(producer).shape == (3,)
        assert [set(options) for options in producer.asked[-1:]] == [{"max_version"}]


def test_a_producer_that_refuses_both_is_a_buffer_error(testing):
    for use in (testing.echo, from_dlpack):
        with pytest.raises(BufferError, match="only in the versioned struct"):
            use(Producer(np.arange(3), refuse_legacy=True, refuse_versions=True))


def test_a_producer_that_gives_no_capsule_is_a_type_error(testing):
    class Broken:
        def __dlpack__(self, **options):
            return 3

    for use in (testing.echo, from_dlpack):
        with pytest.raises(TypeError, match="expected a DLPack capsule, got int"):
            use(Broken())


def test_a_tensor_is_its_own_producer(testing, tensor):
    assert type(ffi_hpy.convert(tensor)) is Tensor
    assert ffi_hpy.convert(tensor).same_as(tensor)
    assert testing.echo(tensor).same_as(tensor)


def test_convert_makes_a_tensor_of_an_array():
    array = np.arange(3)
    assert ffi_hpy.convert(array).data_ptr() == array.__array_interface__["data"][0]
