"""PyTorch: its tensors as arguments and results, imported before or after, and its streams.

The job cp311-torch runs this file. Tests that need a GPU are marked, and run if torch.cuda works.
"""

import gc
import itertools
import sys
import weakref
from typing import Any, Optional

import pytest
from support import is_gone, needs_threads, parallelize, run_python
from support.arrays import native_allocate, native_allocator, native_stream

import ffi_hpy
from ffi_hpy import Tensor, from_dlpack
from ffi_hpy.dataclasses import py_class

torch = pytest.importorskip("torch")

TYPES = [
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip
IS_LENDING = ffi_hpy._core.HAS_EXTENSION

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")


def same_memory(one, two):
    return (one.data_ptr(), one.dtype, tuple(one.shape), one.stride()) == (
        two.data_ptr(), two.dtype, tuple(two.shape), two.stride(),
    )  # fmt: skip


# --- arguments and results --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPES)
def test_a_torch_tensor_goes_in_and_comes_out(testing, name):
    source = torch.zeros((2, 3), dtype=getattr(torch, name))
    seen = []
    returned = ffi_hpy.convert(lambda x: seen.append((type(x), x.dtype, x.shape, x.data_ptr())) or x)(source)
    assert seen == [(Tensor, name, (2, 3), source.data_ptr())]
    assert same_memory(returned, source)
    assert isinstance(returned, torch.Tensor)
    if IS_LENDING:
        assert returned is source


@pytest.mark.parametrize("name", TYPES)
def test_a_torch_tensor_is_imported_and_exported(name):
    source = torch.zeros((2, 3), dtype=getattr(torch, name))
    tensor = from_dlpack(source)
    assert (type(tensor), tensor.dtype, tensor.shape) == (Tensor, name, (2, 3))
    assert same_memory(torch.from_dlpack(tensor), source)
    assert torch.from_dlpack(from_dlpack(tensor.__dlpack__(copy=True, max_version=(1, 0)))).data_ptr() != (
        source.data_ptr()
    )


def test_another_tensor_comes_back_as_torchs(testing):
    other = from_dlpack(torch.arange(6).reshape(2, 3).t())
    pick = ffi_hpy.convert(lambda torchs, tensor: tensor)
    returned = pick(torch.zeros(1), other)
    assert isinstance(returned, torch.Tensor)
    assert returned.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert type(pick(1, other)) is Tensor


def test_a_tensor_of_a_type_that_torch_lacks_stays_a_tensor():
    from support.arrays import array_class, new_state

    new_state()
    other = from_dlpack(array_class()((3,), dtype=(2, 32, 4)))
    assert type(ffi_hpy.convert(lambda torchs, tensor: tensor)(torch.zeros(1), other)) is Tensor


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(12).reshape(3, 4).t()[1:],
        lambda: torch.arange(12)[::3],
        lambda: torch.zeros(1).expand(5),
        lambda: torch.zeros((3, 0, 2)),
        lambda: torch.tensor(5.0),
        lambda: torch.zeros(1, dtype=torch.uint8).expand(2**33, 1),
    ],
)
def test_a_torch_view_keeps_its_strides(make):
    source = make()
    seen = []
    ffi_hpy.convert(lambda x: seen.append((x.shape, x.strides, x.data_ptr())))(source)
    tensor = from_dlpack(source)
    for shape, strides, data in (*seen, (tensor.shape, tensor.strides, tensor.data_ptr())):
        assert shape == tuple(source.shape)
        assert all(s == t for n, s, t in zip(shape, strides, source.stride()) if n > 1)
        assert data == source.data_ptr()


def test_a_torch_tensor_with_a_gradient_goes_in(testing):
    source = torch.zeros(3, requires_grad=True)
    assert testing.echo(source).data_ptr() == source.data_ptr()
    parameter = torch.nn.Parameter(torch.ones(2))
    assert testing.echo(parameter).tolist() == [1, 1]
    tensor_subclass = type("Mine", (torch.Tensor,), {})
    mine = torch.zeros(4).as_subclass(tensor_subclass)
    assert testing.echo(mine).data_ptr() == mine.data_ptr()


def test_a_torch_tensor_without_dense_memory_is_refused(testing):
    for source in (torch.zeros((2, 2)).to_sparse(), torch.zeros(3, device="meta")):
        for use in (testing.nop, from_dlpack):
            with pytest.raises((RuntimeError, BufferError, TypeError, ValueError, NotImplementedError)):
                use(source)
    assert native_allocator() == 0


def test_torch_allocates_for_native_code_during_the_call():
    allocated = ffi_hpy.convert(lambda x: native_allocate((2, 3)))(torch.zeros(1))
    assert isinstance(allocated, torch.Tensor)
    assert tuple(allocated.shape) == (2, 3)
    assert native_allocator() == 0


def test_an_error_restores_the_state_of_torch(testing):
    def callback(x):
        assert native_allocator() != 0
        raise KeyError("in the middle")

    with pytest.raises(KeyError, match="in the middle"):
        ffi_hpy.convert(callback)(torch.zeros(1))
    assert native_allocator() == 0


def test_torch_tensors_are_released(testing):
    source = torch.zeros(3)
    ref = weakref.ref(source)
    for _ in range(3):
        testing.nop(source, [source])
        testing.make_array_with_tensor(source)
        from_dlpack(source)
        ffi_hpy.convert_func(lambda x: None, tensor_cls=torch.Tensor)(from_dlpack(source))
    del source
    gc.collect()
    assert is_gone(ref)


def test_containers_give_out_torch_tensors(testing):
    source = torch.arange(3.0)
    nested = testing.make_nested_map_with_tensor(source, source)
    assert isinstance(nested["array"][0], torch.Tensor)
    assert isinstance(nested["map"]["t"], torch.Tensor)
    assert isinstance(testing.echo(nested)["map"]["t"], torch.Tensor)
    assert [type(item) for item in testing.make_array_with_mixed(source, 1)][0] is torch.Tensor  # noqa: RUF015


def test_a_callback_gets_torch_tensors(testing):
    seen = []
    function = ffi_hpy.convert_func(lambda x, y: seen.append((type(x), x.tolist(), y)), tensor_cls=torch.Tensor)
    function(from_dlpack(torch.arange(2)), "text")
    function(torch.arange(2), "text")
    assert seen == [(torch.Tensor, [0, 1], "text")] * 2


@pytest.mark.parametrize("name", TYPES)
def test_a_torch_dtype_is_converted(name):
    core = ffi_hpy.core
    assert core._convert_torch_dtype_to_ffi_dtype(getattr(torch, name)) == ffi_hpy.dtype(name)


# --- views with lazy bits ---------------------------------------------------------------------------------------------


def views():
    """Return, by the bit that torch sets, a tensor and the function that resolves the bit."""
    pair = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
    return {"conjugate": pair.conj(), "negative": pair.conj().imag}


VIEW_USES = {
    "argument": lambda testing, view: testing.echo(view),
    "keyword": lambda testing, view: ffi_hpy.convert(lambda *args: args)(1, view),
    "list": lambda testing, view: testing.echo([1, [view]]),
    "tuple": lambda testing, view: testing.echo((view,)),
    "dict": lambda testing, view: testing.echo({"a": {"b": view}}),
    "result of a callback": lambda testing, view: ffi_hpy.convert(lambda: view)(),
    "list of a callback": lambda testing, view: ffi_hpy.convert(lambda: [view])(),
    "convert": lambda testing, view: ffi_hpy.convert(view),
    "from_dlpack": lambda testing, view: from_dlpack(view),
    "aligned": lambda testing, view: from_dlpack(view, require_alignment=4),
    "compact": lambda testing, view: from_dlpack(view, require_contiguous=False, require_alignment=1),
    "Array": lambda testing, view: ffi_hpy.Array([view]),
    "List.append": lambda testing, view: ffi_hpy.List().append(view),
    "Map": lambda testing, view: ffi_hpy.Map({"key": view}),
    "Dict item": lambda testing, view: ffi_hpy.Dict().__setitem__("key", view),
    "schema Any": lambda testing, view: ffi_hpy.core.TypeSchema("Any").convert(view),
    "subclass": lambda testing, view: testing.nop(view.as_subclass(type("Mine", (torch.Tensor,), {}))),
}


@pytest.mark.parametrize("use", VIEW_USES)
@pytest.mark.parametrize("bit", ["conjugate", "negative"])
def test_a_torch_view_whose_memory_has_other_values_is_refused(testing, bit, use):
    error = TypeError if use.startswith("schema") else BufferError  # a schema reports why a value does not match
    with pytest.raises(error, match=f"{bit} bit set has other values than its memory: pass tensor.resolve_"):
        VIEW_USES[use](testing, views()[bit])


@pytest.mark.parametrize("annotation", [Any, Tensor, Optional[Tensor], list[Any]])
@pytest.mark.parametrize("bit", ["conjugate", "negative"])
def test_a_torch_view_whose_memory_has_other_values_is_refused_by_a_field(annotation, bit):
    Holder = py_class(f"torch.Holder{next(COUNT)}")(
        type("Holder", (ffi_hpy.Object,), {"__annotations__": {"value": annotation}, "__module__": __name__})
    )
    is_list = annotation == list[Any]
    view, plain = views()[bit], torch.zeros(2)
    with pytest.raises((TypeError, BufferError), match=f"{bit} bit set"):
        Holder([view] if is_list else view)
    holder = Holder([plain] if is_list else plain)
    with pytest.raises((TypeError, BufferError), match=f"{bit} bit set"):
        holder.value = [view] if is_list else view


COUNT = itertools.count()


def test_a_resolved_torch_view_goes_in(testing):
    for view in views().values():
        resolved = view.resolve_conj().resolve_neg()
        assert testing.echo(resolved) is resolved or not IS_LENDING
        assert testing.echo(resolved).tolist() == view.tolist()
    both = torch.view_as_complex(torch.tensor([[1.0, 2.0]])).conj().conj().imag
    assert testing.echo(both).tolist() == [2]
    assert testing.echo(views()["negative"].neg()).tolist() == [2, -4]


@pytest.mark.parametrize(
    ("prepare", "environ"),
    [
        ("", {}),
        ("del torch._C._dispatch_keys", {}),
        ("torch._C._dispatch_keys = lambda tensor: __import__('types').SimpleNamespace(raw_repr=lambda: 7)", {}),
        ("", {"TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API": "1"}),
        ("", {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}),
        ("del torch.Tensor.__dlpack_c_exchange_api__", {}),
    ],
)
def test_a_torch_view_is_refused_however_its_class_is_read(prepare, environ):
    program = f"""
import ffi_hpy, torch
from ffi_hpy import testing
{prepare}
pair = torch.tensor([1 + 2j])
uses = (testing.echo, lambda view: testing.echo([view]), ffi_hpy.from_dlpack, ffi_hpy.convert(lambda view: view))
for view in (pair.conj(), pair.conj().imag):
    for use in uses:
        try:
            print(use(view))
        except BufferError as error:
            assert "bit set" in str(error), error
for plain in (pair, pair.imag, pair.real, torch.arange(3), torch.zeros(2, requires_grad=True)):
    assert testing.echo(plain).data_ptr() == plain.data_ptr()
print("refused")
"""
    assert run_python(program, environ=environ) == "refused\n"


@pytest.mark.skipif(not IS_LENDING, reason="needs the extension of the context")
def test_a_torch_tensor_is_not_asked_for_its_bits(testing, monkeypatch):
    asked = []
    monkeypatch.setattr(torch.Tensor, "is_conj", lambda self: asked.append(self) or False)
    monkeypatch.setattr(torch.Tensor, "is_neg", lambda self: asked.append(self) or False)
    for source in (torch.zeros(3), torch.zeros(3, dtype=torch.complex64), torch.nn.Parameter(torch.ones(2))):
        testing.echo([source])
        from_dlpack(source)
    assert asked == []


# --- imports ----------------------------------------------------------------------------------------------------------


def test_torch_may_be_imported_later():
    program = """
import sys, ffi_hpy
echo = ffi_hpy.convert(lambda x: x)
finders, before = list(sys.meta_path), set(sys.modules)
assert "torch" not in sys.modules
import torch
x = torch.arange(3)
assert isinstance(echo(x), torch.Tensor) and echo(x).data_ptr() == x.data_ptr()
assert sys.meta_path[-len(finders):] == finders
print("as usual")
"""
    assert run_python(program) == "as usual\n"


def test_a_torch_class_is_prepared_by_threads_at_once():
    program = """
import sys, threading, ffi_hpy
echo = ffi_hpy.convert(lambda x: x)
barrier, failures = threading.Barrier(4), []
def work():
    try:
        barrier.wait()
        import torch
        x = torch.arange(3)
        for _ in range(50):
            assert echo(x).data_ptr() == x.data_ptr() and isinstance(echo([x])[0], torch.Tensor)
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(failures)
"""
    assert run_python(program) == "[]\n"


def test_older_versions_of_torch_get_the_missing_parts():
    program = """
import sys, types, ffi_hpy
class Tensor:
    __module__ = "torch"
    __c_dlpack_exchange_api__ = ffi_hpy.core.DLTensorTestWrapper.__dlpack_c_exchange_api__
class Stream:
    __module__, cuda_stream = "torch.cuda", 77
torch = types.ModuleType("torch")
torch.Tensor, torch.cuda = Tensor, types.SimpleNamespace(Stream=Stream)
sys.modules["torch"] = torch
print(type(ffi_hpy.convert(lambda x: x)(Stream())).__name__, hasattr(Tensor, "__dlpack_c_exchange_api__"))
print(getattr(Stream(), "__cuda_stream__", lambda: None)())
"""
    assert run_python(program) == "c_void_p True\n(0, 77)\n"
    switched_off = {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    assert run_python(program, environ=switched_off) == "Stream False\nNone\n"


def test_torch_without_a_table_gets_one_of_python_functions():
    program = """
import os, ffi_hpy, torch
from ffi_hpy import testing
x = torch.arange(6.0).reshape(2, 3)
asked, export = [], torch.Tensor.__dlpack__
torch.Tensor.__dlpack__ = lambda self, **options: asked.append(self) or export(self, **options)
testing.echo(x)
assert bool(asked) == (os.environ.get("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API") == "1"), asked
for y in (testing.echo(x), testing.make_nested_array_with_tensor(x)[0][0], testing.echo([x])[0]):
    assert isinstance(y, torch.Tensor) and y.data_ptr() == x.data_ptr() and y.tolist() == x.tolist(), y
assert type(ffi_hpy.from_dlpack(x)) is ffi_hpy.Tensor
assert isinstance(testing.echo(torch.nn.Parameter(x)), torch.Tensor)
try:
    testing.echo(torch.zeros((2, 2)).to_sparse())
except (RuntimeError, BufferError, ValueError, TypeError) as error:
    print("refused")
pick = ffi_hpy.convert(lambda a, b: b)
print(type(pick(x, ffi_hpy.from_dlpack(torch.zeros(1, dtype=torch.int8)))).__name__)
"""
    without = {"TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API": "1"}
    assert run_python(program, environ=without) == "refused\nTensor\n"
    assert run_python(program) == "refused\nTensor\n"


@pytest.mark.skipif(not IS_LENDING, reason="there each tensor is asked")
def test_the_switch_makes_every_use_of_a_tensor_ask_for_its_capsule():
    program = """
import ffi_hpy, torch
from ffi_hpy import testing
export, asked = torch.Tensor.__dlpack__, []
torch.Tensor.__dlpack__ = lambda self, **options: asked.append(1) or export(self, **options)
x = torch.arange(3)
call = ffi_hpy.convert(lambda function: function())
for use in (
    lambda: testing.echo(x),
    lambda: testing.echo(torch.nn.Parameter(torch.zeros(2))),
    lambda: ffi_hpy.Array([x]),
    lambda: ffi_hpy.Map({"x": x}),
    lambda: ffi_hpy.from_dlpack(x),
    lambda: call(lambda: x),
):
    asked.clear()
    use()
    print(bool(asked))
"""
    assert run_python(program) == "False\n" * 6
    for value, answer in (("1", "True"), ("0", "False")):
        assert run_python(program, environ={"TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API": value}) == f"{answer}\n" * 6


@needs_threads
def test_torch_tensors_are_passed_by_many_threads(testing):
    source = torch.arange(3)

    def work(i):
        own = torch.zeros(i + 1)
        return all(
            testing.echo(own).data_ptr() == own.data_ptr() and testing.echo([source])[0].data_ptr() == source.data_ptr()
            for _ in range(200)
        )

    assert parallelize(work) == [True] * 4


# --- streams ----------------------------------------------------------------------------------------------------------


def test_torchs_current_stream_needs_cuda():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    context = ffi_hpy.use_torch_stream()
    with pytest.raises((RuntimeError, AssertionError)), context:
        pass
    assert native_stream(ffi_hpy.device("cuda:0")) == 0


@needs_cuda
def test_torchs_stream_is_used_on_the_gpu():
    device = ffi_hpy.device("cuda", torch.cuda.current_device())
    stream = torch.cuda.Stream()
    seen = []
    call = ffi_hpy.convert(lambda *x: seen.append(native_stream(device)))
    with torch.cuda.stream(stream):
        call(torch.zeros(1, device="cuda"))
    with ffi_hpy.use_torch_stream(torch.cuda.stream(stream)):
        call()
    assert seen == [stream.cuda_stream] * 2
    assert native_stream(device) == 0
    assert ffi_hpy.convert(lambda x: x)(stream).value == stream.cuda_stream


@needs_cuda
def test_a_torch_tensor_on_the_gpu_goes_in_and_out(testing):
    source = torch.arange(6, device="cuda", dtype=torch.float16).reshape(2, 3)
    assert testing.echo(source).tolist() == source.tolist()
    tensor = from_dlpack(source)
    assert (tensor.shape, tensor.dtype, tensor.device.type) == ((2, 3), "float16", "cuda")
    assert torch.from_dlpack(tensor).tolist() == source.tolist()
    with pytest.raises(BufferError, match="host"):
        tensor.__dlpack__(copy=True, dl_device=(1, 0))
    allocated = ffi_hpy.convert(lambda x: native_allocate((4,)))(source)
    assert isinstance(allocated, torch.Tensor)


@needs_cuda
def test_native_code_takes_part_in_a_cuda_graph(testing):
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    device = ffi_hpy.device("cuda", torch.cuda.current_device())
    x = torch.zeros(1, device="cuda")
    with ffi_hpy.use_torch_stream(torch.cuda.graph(graph, stream=stream)):
        assert native_stream(device) == stream.cuda_stream
        x.add_(1)


def test_torch_is_not_imported_by_us():
    assert run_python("import sys, ffi_hpy; ffi_hpy.convert([1]); print('torch' in sys.modules)") == "False\n"
    assert "torch" in sys.modules


# --- children of fork -------------------------------------------------------------------------------------------------


def test_a_loader_of_torch_with_workers_uses_native_code_beside_busy_threads():
    program = """
import threading, warnings
import torch
import ffi_hpy
warnings.simplefilter("ignore")
is_over = threading.Event()

def stay_busy():
    ones = torch.ones(3)
    while not is_over.is_set():
        ffi_hpy.register_global_func("torch.busy", lambda x: x, override=True)(ones)
        ffi_hpy.remove_global_func("torch.busy")

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        echo = ffi_hpy.convert(lambda x: x)
        return echo(torch.full((2,), float(i))) + len(ffi_hpy.Array([i]))

thread = threading.Thread(target=stay_busy)
thread.start()
total = 0.0
for _ in range(3):
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context="fork")
    total += sum(batch.sum().item() for batch in loader)
is_over.set()
thread.join()
print(total)
"""
    assert run_python(program) == f"{3 * 2 * sum(i + 1 for i in range(40)):.1f}\n"
