"""DLPack C exchange APIs of array libraries: arguments, results, containers, and the state around a call."""

import ctypes
import gc
import weakref
from pathlib import Path

import pytest
from support import IS_OWN_DEBUG, arrays, collect_garbage, is_gone, needs_threads, parallelize, run_python
from support.arrays import CUDA, array_class, native_allocator, native_stream, new_state

import ffi_hpy
from ffi_hpy import Tensor
from ffi_hpy._convert import classify

HAS_EXCHANGE = ffi_hpy._core.HAS_EXCHANGE
BORROWS = ffi_hpy._core.HAS_EXTENSION
"""Whether arguments borrow the object's description; in debug modes they consume a managed tensor."""

pytestmark = [
    pytest.mark.skipif(not HAS_EXCHANGE, reason="this interpreter's context cannot use exchange tables"),
    pytest.mark.thread_unsafe(reason="the behaviour of the tests' array library is set per test and thread"),
]
GPU = ffi_hpy.device("cuda:3")


@pytest.fixture
def state():
    state = new_state()
    yield state
    gc.collect()
    collect_garbage(lambda: state.n_alive == 0)
    assert state.n_alive == 0  # each test releases all its managed tensors


@pytest.fixture
def ArrayClass(state):
    return array_class()


def address_of(value):
    """Return the address of a result's elements, whatever the class of the result."""
    return value.data_ptr() if isinstance(value, Tensor) else value.data


# --- arguments --------------------------------------------------------------------------------------------------------


def test_an_array_arrives_as_a_tensor_on_its_memory(ArrayClass):
    array = ArrayClass((2, 3), strides=(1, 2), byte_offset=8)
    seen = []
    ffi_hpy.convert(lambda x: seen.append((type(x), x.shape, x.strides, x.dtype, x.data_ptr(), x.device)))(array)
    assert seen == [(Tensor, (2, 3), (1, 2), "float32", array.data, ffi_hpy.device("cpu"))]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4), (2**33, 1), tuple(range(1, 12))], ids=str)
def test_missing_strides_mean_compact_rows(ArrayClass, shape):
    seen = []
    ffi_hpy.convert(lambda x: seen.append((x.shape, x.strides, x.is_contiguous())))(ArrayClass(shape))
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= extent
    assert seen == [(shape, tuple(strides), True)]


@pytest.mark.parametrize("dtype", [(0, 4, 1), (2, 32, 4), (17, 4, 2), (6, 8, 1), (3, 64, 1)], ids=str)
def test_any_element_type_arrives(ArrayClass, dtype):
    seen = []
    ffi_hpy.convert(lambda x: seen.append(x.dtype))(ArrayClass(dtype=dtype))
    assert [(x.type_code, x.bits, x.lanes) for x in seen] == [dtype]


def test_a_number_of_elements_beyond_an_int64_is_refused(ArrayClass):
    with pytest.raises(ValueError, match="elements"):
        ffi_hpy.convert(lambda x: None)(ArrayClass((2**40, 2**40), strides=(0, 0)))
    assert ffi_hpy.convert(lambda x: x.numel())(ArrayClass((2**40, 0, 2**40))) == 0


def test_a_negative_number_of_dimensions_is_refused(ArrayClass, state):
    with pytest.raises(ValueError, match="-1"):
        ffi_hpy.convert(lambda x: None)(ArrayClass(ndim=-1))


def test_an_array_lives_while_native_code_has_its_tensor(ArrayClass, extension):
    array = ArrayClass()
    ref = weakref.ref(array)
    stored = extension.store_value(array)
    del array
    gc.collect()
    if BORROWS:
        assert ref() is not None
    extension.drop_on_thread(stored)
    assert is_gone(ref)


def test_an_array_is_released_after_the_call(ArrayClass, testing):
    array = ArrayClass()
    ref = weakref.ref(array)
    for _ in range(3):
        testing.nop(array, [array, {"a": array}])
        with pytest.raises(TypeError):
            testing.add_one(array)
    del array
    assert is_gone(ref)


def test_a_tensor_outlives_the_call_of_a_callback(ArrayClass):
    kept = []
    array = ArrayClass()
    ffi_hpy.convert(kept.append)(array)
    ref, data = weakref.ref(array), array.data
    del array
    gc.collect()
    assert kept[0].data_ptr() == data
    if BORROWS:
        assert list((ctypes.c_float * 4).from_address(data)) == [0, 1, 2, 3]
    kept.clear()
    assert is_gone(ref)


def test_a_table_may_lack_all_but_one_function(state, testing):
    array = array_class("lean_table")()
    returned = testing.echo(array)
    assert type(returned) is Tensor
    assert returned.data_ptr() == array.data
    assert (state.n_borrowed, state.n_made) == (0, 1)


@pytest.mark.parametrize("is_mute", [False, True], ids=["says why", "mute"])
def test_a_failing_library_stops_the_call(ArrayClass, state, testing, is_mute):
    state.fail_in("borrow" if BORROWS else "managed", is_mute)
    error, says = (RuntimeError, "ArrayOfTests failed without") if is_mute else (ValueError, "array library fails")
    for arguments in ((ArrayClass(),), ([1, ArrayClass()],), (ArrayClass(), 1)):
        with pytest.raises(error, match=says):
            testing.nop(1, *arguments)
    assert native_allocator() == 0


@pytest.mark.parametrize("is_mute", [False, True], ids=["says why", "mute"])
def test_a_failing_library_stops_from_dlpack(ArrayClass, state, is_mute):
    state.fail_in("managed", is_mute)
    with pytest.raises(RuntimeError if is_mute else ValueError, match="fail"):
        ffi_hpy.from_dlpack(ArrayClass())


def test_from_dlpack_takes_a_managed_tensor(ArrayClass, state):
    array = ArrayClass((2, 2))
    tensor = ffi_hpy.from_dlpack(array, require_alignment=4, require_contiguous=True)
    assert (tensor.shape, tensor.data_ptr(), state.n_alive) == ((2, 2), array.data, 1)
    ref = weakref.ref(array)
    del array
    assert is_gone(ref)  # the tensor owns the memory; the Python object does not
    del tensor
    gc.collect()
    collect_garbage(lambda: state.n_alive == 0)
    assert state.n_alive == 0


@pytest.mark.parametrize(
    ("make", "options", "error", "says"),
    [
        ({"strides": (2,)}, {"require_contiguous": True}, RuntimeError, "contiguous"),
        ({"byte_offset": 2}, {"require_alignment": 4}, RuntimeError, "aligned"),
        ({"ndim": -2}, {}, ValueError, "-2"),
        ({}, {"require_alignment": -1}, ValueError, "negative"),
        ({}, {"alignment": 1}, TypeError, "alignment"),
    ],
    ids=str,
)
def test_a_tensor_that_does_not_meet_the_demands_is_released(ArrayClass, state, make, options, error, says):
    with pytest.raises(error, match=says):
        ffi_hpy.from_dlpack(ArrayClass(**make), **options)
    assert state.n_alive == 0


@pytest.mark.parametrize(("flags", "error"), [(1, BufferError), (4, RuntimeError)], ids=["read-only", "padded"])
def test_memory_that_native_code_would_misuse_is_refused(state, testing, flags, error):
    state.flags = flags
    for use in (testing.nop, ffi_hpy.from_dlpack):
        with pytest.raises(error):
            use(array_class("lean_table")())
    assert (state.n_made, state.n_alive) == (2, 0)


def test_a_managed_tensor_of_a_later_version_is_refused(state, testing):
    state.major = 2
    with pytest.raises(RuntimeError, match="version"):
        testing.nop(array_class("lean_table")())
    assert state.n_alive == 0


# --- results ----------------------------------------------------------------------------------------------------------


def test_an_array_comes_back_as_itself(ArrayClass, testing):
    array = ArrayClass()
    returned = testing.echo(array)
    if BORROWS:
        assert returned is array
    assert address_of(returned) == array.data


def test_a_tensor_becomes_an_array_when_an_argument_was_one(ArrayClass, testing):
    other = ffi_hpy.from_dlpack(ArrayClass((3,)))
    pick = ffi_hpy.convert(lambda array, tensor: tensor)
    returned = pick(ArrayClass(), other)
    assert isinstance(returned, arrays.MadeArray)
    assert (returned.shape, address_of(returned)) == ((3,), other.data_ptr())
    assert pick(1, other) is other or pick(1, other).same_as(other)


@pytest.mark.parametrize("is_mute", [False, True], ids=["says why", "mute"])
def test_a_tensor_that_the_library_refuses_stays_a_tensor(ArrayClass, state, is_mute):
    other = ffi_hpy.from_dlpack(ArrayClass((3,)))
    state.fail_in("make", is_mute)
    returned = ffi_hpy.convert(lambda array, tensor: tensor)(ArrayClass(), other)
    assert type(returned) is Tensor
    assert returned.same_as(other)


def test_of_two_libraries_the_last_ones_arrays_come_back(ArrayClass, state):
    other = ffi_hpy.from_dlpack(ArrayClass((3,)))
    lean = array_class("lean_table")()
    pick = ffi_hpy.convert(lambda one, two, tensor: tensor)
    assert type(pick(ArrayClass(), lean, other)) is Tensor
    returned = pick(lean, ArrayClass(), other)
    assert isinstance(returned, arrays.MadeArray)


def test_containers_give_out_arrays(ArrayClass, testing):
    array = ArrayClass((2,))
    for name in ("make_array_with_tensor", "make_list_with_tensor", "make_nested_array_with_tensor"):
        more = (7,) if name == "make_list_with_tensor" else ()
        made = getattr(testing, name)(array, *more)
        while isinstance(made, (ffi_hpy.Array, ffi_hpy.List)):
            container, made = made, made[0]
        assert not isinstance(made, Tensor)
        assert address_of(made) == array.data
        assert not any(isinstance(item, Tensor) for item in container)
        again = testing.echo(container)
        assert not isinstance(again[0], Tensor)


def test_mappings_give_out_arrays(ArrayClass, testing):
    array = ArrayClass((2,))
    for make in (testing.make_map_with_tensor, testing.make_dict_with_tensor):
        made = make(array)
        assert address_of(made["tensor"]) == array.data
        assert made["value"] == 42
        assert [address_of(value) for key, value in made.items() if key == "tensor"] == [array.data]
        assert not isinstance(made.get("tensor"), Tensor)
        assert not any(isinstance(value, Tensor) for value in made.values())


def test_a_container_of_a_call_without_arrays_returns_tensors(ArrayClass, testing):
    tensor = ffi_hpy.from_dlpack(ArrayClass())
    assert type(testing.make_array_with_tensor(tensor)[0]) is Tensor


# --- the state around a call ------------------------------------------------------------------------------------------


def test_native_code_allocates_with_the_library_during_the_call(ArrayClass, state):
    seen = []

    def callback(x):
        seen.append(native_allocator())
        return arrays.native_allocate((5,))

    returned = ffi_hpy.convert(callback)(ArrayClass())
    assert seen[0] != 0
    assert state.n_made >= 1
    assert isinstance(returned, arrays.MadeArray)
    assert native_allocator() == 0
    with pytest.raises(RuntimeError):
        arrays.native_allocate((5,))


def test_the_surroundings_are_restored_after_an_error(ArrayClass, state):
    state.stream = 0x1234

    def callback(x):
        assert (native_stream(GPU), native_allocator() != 0) == (0x1234, True)
        raise KeyError("in the middle")

    with ffi_hpy.use_raw_stream(GPU, 77):
        with pytest.raises(KeyError):
            ffi_hpy.convert(callback)(ArrayClass(device=(CUDA, 3)))
        assert (native_stream(GPU), native_allocator()) == (77, 0)
    assert native_stream(GPU) == 0


def test_a_later_argument_that_fails_changes_nothing(ArrayClass, state, testing):
    state.stream = 0x1234

    class Broken:
        def __tvm_ffi_int__(self):
            raise LookupError("broken argument")

    with pytest.raises(LookupError, match="broken argument"):
        testing.nop(ArrayClass(device=(CUDA, 3)), Broken())
    assert (native_stream(GPU), native_allocator()) == (0, 0)


def test_the_stream_is_that_of_the_first_array_on_a_device(ArrayClass, state):
    state.stream = 0x55
    seen = []
    call = ffi_hpy.convert(lambda *x: seen.append([native_stream(ffi_hpy.device("cuda", i)) for i in range(3)]))
    call(ArrayClass(), [ArrayClass(device=(CUDA, 2))], ArrayClass(device=(CUDA, 1)))
    assert seen == [[0, 0, 0x55]]


def test_nested_calls_restore_the_outer_call_s_state(ArrayClass, state):
    state.stream = 0x55
    seen = []
    inner = ffi_hpy.convert(lambda x: seen.append(native_stream(GPU)))

    def callback(x):
        state.stream = 0x66
        inner(ArrayClass(device=(CUDA, 3)))
        seen.append(native_stream(GPU))

    ffi_hpy.convert(callback)(ArrayClass(device=(CUDA, 3)))
    assert seen == [0x66, 0x55]
    assert native_stream(GPU) == 0


@pytest.mark.parametrize("is_mute", [False, True], ids=["says why", "mute"])
def test_a_library_that_does_not_know_its_stream_stops_the_call(ArrayClass, state, testing, is_mute):
    container = testing.make_array_with_tensor(ArrayClass(device=(CUDA, 3)))
    state.fail_in("stream", is_mute)
    for argument in (ArrayClass(device=(CUDA, 3)), container):
        with pytest.raises(RuntimeError if is_mute else ValueError, match="fail"):
            testing.nop(argument)
    testing.nop(ArrayClass())
    assert (native_stream(GPU), native_allocator()) == (0, 0)


def test_a_container_of_arrays_sets_their_stream(ArrayClass, state, testing):
    container = testing.make_array_with_tensor(ArrayClass(device=(CUDA, 3)))
    state.stream = 0x77
    seen = []
    ffi_hpy.convert(lambda x: seen.append(native_stream(GPU)))(container)
    assert seen == [0x77]


def test_an_array_without_an_exchange_api_may_report_its_stream(ArrayClass, state):
    tensor = ffi_hpy.from_dlpack(ArrayClass(device=(CUDA, 3)))

    class Producer:
        def __init__(self, tensor, stream):
            self.tensor, self.stream = tensor, stream

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

        def __tvm_ffi_env_stream__(self):
            return self.stream

    seen = []
    call = ffi_hpy.convert(lambda x: seen.append(native_stream(GPU)))
    call(Producer(tensor, 0x99))
    assert seen == [0x99]
    before = tensor.__use_count__()
    with pytest.raises(TypeError):
        call(Producer(tensor, "no address"))
    gc.collect()
    collect_garbage(lambda: tensor.__use_count__() == before)
    assert (seen, native_stream(GPU)) == ([0x99], 0)


# --- callbacks that return arrays -------------------------------------------------------------------------------------


def test_a_callback_gets_arrays_of_the_class_that_it_wants(ArrayClass, testing):
    tensor = ffi_hpy.from_dlpack(ArrayClass((3,)))
    seen = []

    def callback(x, y, z):
        seen.append((x, y, address_of(z)))
        return y

    function = ffi_hpy.convert_func(callback, tensor_cls=ArrayClass)
    array = ArrayClass()
    assert function(array, 5, tensor) == 5
    assert (address_of(seen[0][0]), *seen[0][1:]) == (array.data, 5, tensor.data_ptr())
    assert not isinstance(seen[0][0], Tensor)
    if BORROWS:
        assert seen[0][0] is array


def test_a_callback_finds_arrays_in_its_containers(ArrayClass, testing):
    seen = []
    function = ffi_hpy.convert_func(lambda x: seen.append(address_of(x[0])), tensor_cls=ArrayClass)
    array = ArrayClass()
    function([array])
    assert seen == [array.data]


@pytest.mark.parametrize("is_mute", [False, True], ids=["says why", "mute"])
def test_a_callback_is_not_called_with_something_else(ArrayClass, state, is_mute):
    tensor = ffi_hpy.from_dlpack(ArrayClass())
    called = []
    function = ffi_hpy.convert_func(called.append, tensor_cls=ArrayClass)
    state.fail_in("make", is_mute)
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        function(tensor)
    assert called == []


def test_a_callback_wants_a_class_with_a_table(state):
    for wrong in (object, int, arrays.Array):
        with pytest.raises(TypeError, match="__dlpack_c_exchange_api__"):
            ffi_hpy.convert_func(lambda: None, tensor_cls=wrong)
    with pytest.raises(TypeError, match="exchange table"):
        ffi_hpy.convert_func(lambda: None, tensor_cls=array_class("lean_table"))
    with pytest.raises(TypeError, match="callable"):
        ffi_hpy.convert_func(3, tensor_cls=array_class())
    assert ffi_hpy.convert_func(lambda: 5)() == 5


def test_a_callback_that_wants_arrays_is_given_up(ArrayClass):
    class Callable:
        def __call__(self, x):
            return None

    callback = Callable()
    ref = weakref.ref(callback)
    function = ffi_hpy.convert_func(callback, tensor_cls=ArrayClass)
    function(1)
    del callback, function
    assert is_gone(ref)


# --- selection of classes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["chained_table", "exchange_table"])
def test_a_table_of_today_is_found(state, testing, table):
    array = array_class(table)()
    assert address_of(testing.echo(array)) == array.data


def test_a_table_of_a_later_version_is_not_used(state, testing):
    tensor = ffi_hpy.from_dlpack(array_class()())
    later = array_class("newer_table")
    assert type(testing.echo(later())) is later  # an ordinary object
    later = array_class("newer_table")
    later.__dlpack__ = lambda self: self.tensor.__dlpack__()
    array = later()
    array.tensor = tensor
    assert testing.echo(array).data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize(("value", "error"), [("text", TypeError), (0, ValueError), (object(), TypeError)], ids=repr)
def test_a_value_that_is_not_an_exchange_api_is_reported(state, testing, value, error):
    cls = type("Wrong", (), {"__dlpack_c_exchange_api__": value})
    for use in (testing.nop, ffi_hpy.from_dlpack, ffi_hpy.convert):
        with pytest.raises(error, match=r"table|capsule"):
            use(cls())


@pytest.mark.thread_unsafe(reason="it changes the environment")
@pytest.mark.skipif(not hasattr(ffi_hpy._core, "ndarray_use"), reason="arrays of NumPy are always asked")
def test_the_struct_of_numpys_arrays_is_not_read_where_the_protocol_is_required(monkeypatch):
    ndarray = pytest.importorskip("numpy").ndarray
    used = []
    monkeypatch.setattr(ffi_hpy._core, "ndarray_use", lambda cls, as_array: used.append(cls))
    for value, expected in (("1", []), ("0", [ndarray] * ffi_hpy._core.HAS_EXTENSION)):
        monkeypatch.setenv("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API", value)
        assert classify(ndarray) == (ffi_hpy._core.TAG_DLPACK, None)
        assert used == expected


FIRST_ARRAYS_AT_ONCE = """
import gc, sys, threading, weakref
from ffi_hpy import _core

class AsArray:
    def __call__(self, tensor):
        return tensor

def learn(i):
    barrier.wait()
    _core.ndarray_use(classes[i % 2], functions[i])

n, classes = 8, (type("A", (), {}), type("B", (), {}))
barrier, functions = threading.Barrier(n), [AsArray() for _ in range(n)]
alive = [weakref.ref(function) for function in functions]
threads = [threading.Thread(target=learn, args=(i,)) for i in range(n)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
del functions
gc.collect()
print(sum(each() is not None for each in alive))
"""


@needs_threads
@pytest.mark.skipif(not hasattr(ffi_hpy._core, "ndarray_use"), reason="arrays of NumPy are always asked")
def test_one_thread_of_several_tells_how_arrays_of_numpy_are_made():
    found = {run_python(FIRST_ARRAYS_AT_ONCE) for _ in range(3)}
    assert found == {f"{int(ffi_hpy._core.HAS_EXTENSION)}\n"}


# --- Tensor's own exchange API ----------------------------------------------------------------------------------------


def test_a_wrapper_of_a_tensor_goes_through_tensors_own_table(ArrayClass, testing):
    tensor = ffi_hpy.from_dlpack(ArrayClass((2, 2)))
    wrapper = ffi_hpy.core.DLTensorTestWrapper(tensor)
    returned = testing.echo(wrapper)
    assert (returned is wrapper) if BORROWS else (type(returned) is Tensor)
    assert ffi_hpy.convert(wrapper).data_ptr() == tensor.data_ptr()
    assert ffi_hpy.from_dlpack(wrapper).shape == (2, 2)
    function = ffi_hpy.convert_func(lambda x: type(x).__name__, tensor_cls=Tensor)
    assert function(tensor) == "Tensor"
    assert wrapper.__dlpack_device__() == (1, 0)
    assert wrapper.__tvm_ffi_env_stream__() == 0


@pytest.mark.parametrize("wrong", [None, 5, "text"], ids=repr)
def test_a_wrapper_of_something_else_is_a_type_error(testing, wrong):
    with pytest.raises(TypeError, match="Tensor"):
        testing.nop(ffi_hpy.core.DLTensorTestWrapper(wrong))
    with pytest.raises(AttributeError, match="tensor"):
        testing.nop(ffi_hpy.core.DLTensorTestWrapper.__new__(ffi_hpy.core.DLTensorTestWrapper))
    with pytest.raises(ValueError, match="has no native object"):
        testing.nop(ffi_hpy.core.DLTensorTestWrapper(Tensor.__new__(Tensor)))


# --- threads ----------------------------------------------------------------------------------------------------------


@needs_threads
def test_many_threads_pass_arrays_of_a_new_class_at_once(testing):
    cls = array_class()

    def work(i):
        new_state()
        results = []
        for n in range(200):
            array = cls((n,))
            results.append(address_of(testing.echo(array)) == array.data)
        return all(results)

    assert parallelize(work) == [True] * 4


@needs_threads
def test_one_array_is_passed_by_many_threads(testing):
    arrays_of_all = [array_class()((4,))]

    def work(i):
        new_state()
        array = arrays_of_all[0]
        return all(address_of(testing.echo([array])[0]) == array.data for _ in range(200))

    assert parallelize(work) == [True] * 4
    ref = weakref.ref(arrays_of_all.pop())
    assert is_gone(ref)


def test_the_interpreter_exits_while_native_code_has_an_array(extension_path):
    program = """
import sys
sys.path.insert(0, sys.argv[2])
import ffi_hpy
from support import arrays
arrays.new_state()
library = ffi_hpy.load_module(sys.argv[1])
library.store_value(arrays.array_class()())
library.store_value([arrays.array_class("lean_table")()])
print("done")
"""
    assert run_python(program, extension_path, Path(__file__).resolve().parents[1]) == "done\n"


@pytest.mark.skipif(IS_OWN_DEBUG, reason="it is about arguments that are borrowed")
def test_shape_and_strides_of_a_lent_tensor_are_its_own(ArrayClass):
    kept = []
    array = ArrayClass((2, 3), strides=(3, 1))
    ffi_hpy.convert(kept.append)(array)
    array.shape[0], array.strides[0] = 99, 98
    assert (kept[0].shape, kept[0].strides) == ((2, 3), (3, 1))
