"""Parameters that declare an array (read-only, element type, axes, device), and the address that a kernel reads."""

import ctypes
import inspect
import typing
import weakref

import pytest
from support import is_gone
from support.arrays import FLOAT32, Array, Managed, adopted, array_class, new_state

import ffi_hpy
from ffi_hpy import Tensor, from_dlpack
from ffi_hpy.core import TypeSchema

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

FLOAT64, CPU, CUDA = (2, 64, 1), (1, 0), (2, 0)
REFUSED = r"read-?only"


@pytest.fixture(scope="module")
def views(compile_era):
    return ffi_hpy.load_module(compile_era("array_views.cc", "own"))


class Producer:
    """An array of a library without an exchange API; `read_only` is the flag that it exports."""

    def __init__(self, dtype=FLOAT64, shape=(3,), device=CPU, read_only=False, offset=0):
        self.memory = (ctypes.c_double * 8)(*range(8))
        self.form = (shape, tuple(1 for _ in shape), dtype, device)
        self.read_only, self.offset = read_only, offset

    def __dlpack_device__(self):
        return self.form[3]

    def __dlpack__(self, max_version=None, **_options):
        if self.read_only and max_version is None:
            raise BufferError("read-only")
        address = ctypes.addressof(self.memory) + self.offset
        return ffi_hpy._core.memory_capsule(self, address, *self.form, self.read_only)


def test_a_function_that_only_reads_accepts_read_only_arrays(views):
    fixed = Producer(read_only=True)
    assert views.total(fixed) == 0 + 1 + 2
    assert views.count(Producer(), fixed) == 6
    assert views.count(fixed, fixed) == 6
    assert ffi_hpy.get_global_func("array_views.size")(fixed) == 3
    assert views.total(Producer()) == 3


def test_an_optional_view_accepts_read_only_arrays_and_none(views):
    fixed = Producer(read_only=True)
    assert views.count_optional(None, None) == -2
    assert views.count_optional(fixed, None) == 2
    assert views.count_optional(None, fixed) == 2
    assert views.count_optional(Producer(), fixed) == 6
    with pytest.raises(TypeError, match="float32"):
        views.count_optional(None, Producer(dtype=FLOAT32))
    assert (views.count_either(fixed), views.count_either(7)) == (3, 7)
    assert views.count_all([fixed, Producer(), fixed]) == 9
    assert views.write(None) == 0
    with pytest.raises(BufferError, match=REFUSED):
        views.write(fixed)
    assert 'x: Annotated[Tensor, "read-only"] | None' in views.count_optional.__doc__ or "arg0" in (
        views.count_optional.__doc__
    )


def test_other_functions_still_refuse_them(views, testing):
    fixed = Producer(read_only=True, dtype=FLOAT32, shape=(1, 2))
    for refused in (lambda: views.fill(fixed, 1.0), lambda: views.address(fixed), lambda: testing.echo(fixed)):
        with pytest.raises(BufferError, match=REFUSED):
            refused()
    with pytest.raises(BufferError, match=REFUSED):
        testing.echo([1, fixed])
    with pytest.raises(BufferError, match=REFUSED):
        views.unknown()(fixed, fixed)  # a function without metadata
    with pytest.raises(BufferError, match=REFUSED):
        ffi_hpy.from_dlpack(fixed)


def test_a_method_that_only_reads_accepts_read_only_arrays(views):
    @ffi_hpy.register_object("array_views.Reader")
    class Reader(ffi_hpy.Object):
        pass

    fixed = Producer(read_only=True)
    reader = Reader(Producer())
    assert (reader.n, reader.more(fixed)) == (3, 6)


@pytest.mark.skipif(np is None, reason="NumPy has no wheel for this interpreter")
def test_read_only_arrays_of_numpy_are_read(views):
    array = np.arange(6.0)
    array.flags.writeable = False
    for part in (array, array[::2], array[::-1]):
        assert views.total(part) == part.sum()
    with pytest.raises(BufferError, match=REFUSED):
        views.address(array)
    assert views.count(np.broadcast_to(np.float32(1), (2, 3)), array) == 12


def test_nothing_is_kept_after_the_call(views):
    fixed = Producer(read_only=True)
    alive = weakref.ref(fixed)
    views.total(fixed)
    del fixed
    assert is_gone(alive)


def test_an_array_of_another_form_is_refused_by_one_sentence(views):
    for function, argument, expected, given in (
        (views.total, Producer(dtype=FLOAT32), "read-only float64[:] on cpu", "float32[3] on cpu"),
        (views.total, Producer(shape=(1, 2)), "read-only float64[:] on cpu", "float64[1, 2] on cpu"),
        (views.total, Producer(device=CUDA), "read-only float64[:] on cpu", "float64[3] on cuda"),
        (views.on_gpu, Producer(), "on cuda", "float64[3] on cpu"),
    ):
        with pytest.raises(TypeError) as caught:
            function(argument)
        message = str(caught.value)
        assert f"{expected} array" in message
        assert f"{given} array" in message
        assert "\n" not in message
    with pytest.raises(TypeError, match="float32"):
        views.fill(3, 1.0)
    memory = Array((2, 3))
    views.fill(from_dlpack(array_of(memory)), 7.0)
    assert list(memory.memory)[:7] == [7] * 6 + [6]


def array_of(memory):
    return ffi_hpy._core.memory_capsule(memory, memory.data, (2, 3), (3, 1), FLOAT32, CPU, False)


def test_signatures_show_the_form(views):
    signature = inspect.signature(views.total)
    annotation = next(iter(signature.parameters.values())).annotation
    assert typing.get_args(annotation) == (Tensor, "read-only float64[:] on cpu")
    assert 'Annotated[Tensor, "read-only float64[:] on cpu"]' in views.total.__doc__
    assert 'Annotated[Tensor, "float32[:, :]"]' in views.fill.__doc__
    assert 'Annotated[Tensor, "read-only"]' in views.count.__doc__


def test_stubs_show_the_form(views, tmp_path):
    from ffi_hpy.stub import cli, consts

    begin, end = consts.PYTHON_SYNTAX.begin, consts.PYTHON_SYNTAX.end
    regions = [f"{begin} {name}\n{end}\n" for name in ("import-section", "global/array_views")]
    (tmp_path / "stub.py").write_text("".join(regions))
    assert cli.main([str(tmp_path)]) == 0
    text = (tmp_path / "stub.py").read_text()
    assert 'Annotated[SupportsDLPack, "read-only [:]"]' in text
    assert "from typing import Annotated" in text
    schema = TypeSchema.from_json_str('{"type":"DLTensor*","array":"read-only"}')
    assert schema == TypeSchema("Tensor")
    assert TypeSchema.from_json_obj(schema.to_json()).array == "read-only"


kept = []  # memory of tensors, kept forever: PyPy may end it before the tensor


def test_a_kernel_that_reads_only_the_address_is_right(views):
    array = Array((2, 3), byte_offset=8)
    managed = Managed(major=1, tensor=array.tensor)
    handle = ctypes.c_void_p()
    assert ffi_hpy.LIB.TVMFFITensorFromDLPackVersioned(ctypes.byref(managed), 0, 0, ctypes.byref(handle)) == 0
    kept.append((array, managed))
    tensor = adopted(handle)
    assert (views.address(tensor), views.offset(tensor), tensor.data_ptr()) == (array.data, 0, array.data)
    if ffi_hpy._core.HAS_EXCHANGE:
        new_state()
        sent = array_class()((2, 3), byte_offset=8)
        assert (views.address(sent), views.offset(sent)) == (sent.data, 0)
        own = from_dlpack(sent)
        assert (own.data_ptr(), own.byte_offset) == (sent.data, 0)
